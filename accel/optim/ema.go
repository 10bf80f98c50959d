package optim

import (
	"fmt"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// EMA is an exponential moving average of the parameters of a model, which often predicts better than
// the parameters themselves (Polyak and Juditsky, 1992). [NewEMA] returns it. In accel.Fit:
//
//	average := optim.NewEMA(model, 0.999)
//	run, err := accel.Fit(ctx, model, train, accel.AfterStep(average.AfterStep))
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

// AfterStep is [EMA.Update] for the option accel.AfterStep.
func (e *EMA) AfterStep(int) (err error) {
	defer nn.Catch(&err)
	e.Update()
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
