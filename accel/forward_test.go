package accel_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// branches is a model with modules in fields, of which Extra may be nil.
type branches struct {
	Body, Head nn.Module
	Extra      *nn.DenseLayer
}

func (m *branches) Forward(x *nn.Tensor) *nn.Tensor { return m.Head.Forward(m.Body.Forward(x)) }

// TestNilField requires that Fit, Evaluate and Predict name a field that is nil, and that a field
// which is not used may be nil.
func TestNilField(t *testing.T) {
	train, _ := digits(t)
	train = train.First(32)
	model := &branches{Body: nn.Sequential(nn.Flatten(), nn.Dense(4))}
	_, fit := accel.Fit(t.Context(), model, train, accel.Epochs(1), accel.Quiet())
	_, evaluate := accel.Evaluate(t.Context(), model, train)
	_, predict := accel.PredictDataset(t.Context(), model, train)
	for call, err := range map[string]error{"Fit": fit, "Evaluate": evaluate, "PredictDataset": predict} {
		var state *tensor.StateError
		if !errors.As(err, &state) || !strings.Contains(err.Error(), "a module that is nil: create Head or Extra") {
			t.Errorf("%s: %v", call, err)
		}
	}
	model.Head = nn.Dense(10)
	if _, err := accel.Fit(t.Context(), model, train, accel.Epochs(1), accel.Quiet()); err != nil {
		t.Error(err)
	}
}
