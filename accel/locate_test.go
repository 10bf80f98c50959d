package accel_test

import (
	"errors"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// TestIndexErrorsNameTheLayer uses token 7 with an embedding of 5 tokens.
func TestIndexErrorsNameTheLayer(t *testing.T) {
	set, err := data.FromSlices([][]float32{{1, 2}, {3, 7}}, []int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	model := nn.Sequential(nn.Lambda(func(x *nn.Tensor) *nn.Tensor { return x }), nn.Embedding(5, 3), nn.Flatten(), nn.Dense(2))
	_, fit := accel.Fit(t.Context(), model, set, accel.Epochs(1), accel.Quiet())
	_, evaluate := accel.Evaluate(t.Context(), model, set)
	_, predict := accel.PredictDataset(t.Context(), model, set)
	for what, err := range map[string]error{"Fit": fit, "Evaluate": evaluate, "PredictDataset": predict} {
		var layer *nn.LayerError
		var index *tensor.IndexError
		if !errors.As(err, &layer) || !errors.As(err, &index) || layer.Path != "1" || layer.Layer != "Embedding(5, 3)" || index.Index != 7 {
			t.Errorf("%s: %v", what, err)
		}
	}
}
