package optim

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// EMA is an exponential moving average of the parameters of a model, which often predicts better than
// the parameters themselves (Polyak and Juditsky, 1992). [NewEMA] returns it. In accel.Fit, whose
// validations measure the average:
//
//	average := optim.NewEMA(model, 0.999)
//	run, err := accel.Fit(ctx, model, train, accel.EMA(average), accel.Validate(validation))
//	restore := average.Use()
//	result, err := accel.Evaluate(ctx, model, test)
//	restore()
type EMA struct {
	model   any
	decay   float64
	average map[*tensor.Tensor]*tensor.Tensor
}

// NewEMA returns an average with this decay, such as 0.999, in [0, 1):
//
//	average = decay·average + (1-decay)·parameter
//
// The first update copies the parameters, as in PyTorch's get_ema_multi_avg_fn. Buffers, such as
// running means, are not averaged.
func NewEMA(model any, decay float64) *EMA {
	return &EMA{model: model, decay: decay, average: map[*tensor.Tensor]*tensor.Tensor{}}
}

// Like returns an average of another model with the same decay, such as of the Parts of a parallel.DistributedModel.
func (e *EMA) Like(model any) *EMA { return NewEMA(model, e.decay) }

// Update adds the current parameters to the average.
func (e *EMA) Update() {
	if !(e.decay >= 0 && e.decay < 1) {
		panic(&tensor.StateError{Op: "EMA", Hint: fmt.Sprintf("the decay %g must be in [0, 1)", e.decay)})
	}
	tensor.NoGrad(func() {
		for _, p := range nn.Parameters(e.model) {
			before := e.average[p]
			if before == nil {
				e.average[p] = p.Clone()
				continue
			}
			change := p.Sub(before)
			step := change.MulScalar(1 - e.decay)
			change.Release()
			before.Assign(before.Add(step))
			step.Release()
		}
		tensor.Flush()
	})
}

// State returns the averages by the names of the parameters; none before the first update.
func (e *EMA) State() map[string]*tensor.Tensor {
	state := map[string]*tensor.Tensor{}
	for _, p := range nn.NamedParameters(e.model) {
		if average := e.average[p.Tensor]; average != nil {
			state[p.Name] = average
		}
	}
	return state
}

// SetState sets averages that State returned for a model with the same parameters. It fails, and
// changes nothing, if a name or a shape does not match the model.
func (e *EMA) SetState(state map[string]*tensor.Tensor) error {
	average := map[*tensor.Tensor]*tensor.Tensor{}
	for _, p := range nn.NamedParameters(e.model) {
		t := state[p.Name]
		if t == nil {
			continue
		}
		if !slices.Equal(t.Shape(), p.Tensor.Shape()) {
			return fmt.Errorf("optim: EMA: the average of %s has shape %v, but the parameter has %v", p.Name, t.Shape(), p.Tensor.Shape())
		}
		average[p.Tensor] = t.Clone()
	}
	if len(average) < len(state) {
		return fmt.Errorf("optim: EMA: of %d averages, the model has the parameters of %d", len(state), len(average))
	}
	e.average = average
	return nil
}

// Use gives the model the averages as its parameters. The function that it returns gives it back
// those that it had.
func (e *EMA) Use() (restore func()) {
	original := map[*tensor.Tensor]*tensor.Tensor{}
	tensor.NoGrad(func() {
		for p, average := range e.average {
			original[p] = p.Clone()
			p.Assign(average.Clone())
		}
		tensor.Flush()
	})
	return func() {
		tensor.NoGrad(func() {
			for p, values := range original {
				p.Assign(values)
			}
			tensor.Flush()
		})
	}
}
