package accel

import (
	"fmt"

	"github.com/quernlab/quern/accel/nn"
)

// MissingParametersError says that a model computes with parameters that are not found in it, so that
// no optimiser would change them: those of layers that a function has captured, for
// instance.
type MissingParametersError struct {
	Shapes [][]int // of the parameters
	Found  int     // how many parameters are found in the model
}

// Error says how many there are, and how the model can show them.
func (e *MissingParametersError) Error() string {
	return fmt.Sprintf("accel: the model computes with %s that cannot be found in it, of shape %s, and with %d that can: "+
		"training would leave them as they are. Keep layers in fields of the model, name those that the function of nn.Lambda calls behind it, nn.Lambda(f, layer, …), or freeze them with nn.Freeze",
		plural(len(e.Shapes), "parameter"), shapesText(e.Shapes), e.Found)
}

// shapesText names the first of some shapes.
func shapesText(shapes [][]int) string {
	const most = 3
	text := fmt.Sprint(shapes[:min(most, len(shapes))])
	text = text[1 : len(text)-1]
	if len(shapes) > most {
		text += " …"
	}
	return text
}

// look finds, with the first prediction of the training, parameters that the optimiser
// does not see.
func (l *loop) look(prediction *Tensor) {
	if l.looked {
		return
	}
	l.looked = true
	seen := nn.Parameters(l.model)
	if shapes := prediction.OtherParameters(seen); len(shapes) > 0 {
		l.unseen = &MissingParametersError{Shapes: shapes, Found: len(seen)}
	}
}
