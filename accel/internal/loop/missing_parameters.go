package loop

import (
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// missingParameters returns a [*history.MissingParametersError] if a prediction of the model depends on
// parameters that nn.Parameters does not find.
func missingParameters(model nn.Module, prediction *tensor.Tensor) error {
	seen := nn.Parameters(model)
	if shapes := prediction.OtherParameters(seen); len(shapes) > 0 {
		return &history.MissingParametersError{Shapes: shapes, Found: len(seen)}
	}
	return nil
}
