package optim

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// GradScaler scales the loss so that small gradients do not underflow in float16: the loss is
// multiplied by a scale before Backward, and the gradients are divided by it before the update.
// It works like PyTorch's GradScaler (Micikevicius et al., Mixed Precision Training, 2018): the
// scale starts at 2¹⁶; if a gradient is infinite or NaN, the step is skipped and the scale
// halved; after 2000 steps in a row without that, it is doubled.
//
//	scaler := optim.NewGradScaler()
//	…
//	scaler.Scale(loss).Backward()
//	scaler.Step(opt)
//
// The device holds the scale and decides whether to skip, so that the host need not wait.
// LossScale, Skipped, String and State wait for the device. A GradScaler must not be used by
// several goroutines at the same time.
type GradScaler struct {
	scale   *tensor.Tensor // all tensors are scalars
	good    *tensor.Tensor // steps since the scale changed
	skipped *tensor.Tensor
	used    *tensor.Tensor // the scale of the newest step
	made    *tensor.Tensor // 1 if that step was made, 0 if it was skipped
}

const (
	scalerStart   = 1 << 16
	scalerGrowth  = 2
	scalerBackoff = 0.5
	scalerEvery   = 2000
	scalerLimit   = 1 << 127 // a larger scale would make every float32 loss infinite
)

// NewGradScaler returns a scaler with a scale of 2¹⁶.
func NewGradScaler() *GradScaler { return newScaler(GradScalerState{Scale: scalerStart}) }

func newScaler(s GradScalerState) *GradScaler {
	return &GradScaler{
		scale: tensor.Full(s.Scale), good: tensor.Full(float64(s.GoodSteps)), skipped: tensor.Full(float64(s.Skipped)),
		used: tensor.Full(s.Scale), made: tensor.Ones(),
	}
}

// Scale returns the loss multiplied by the scale.
func (s *GradScaler) Scale(loss *tensor.Tensor) *tensor.Tensor {
	if loss.DType() != tensor.Float64 {
		return loss.Mul(s.scale)
	}
	scale := s.scale.Cast(tensor.Float64)
	defer scale.Release()
	return loss.Mul(scale)
}

// Step divides the gradients by the scale, lets the optimizer make a step, with gradient
// clipping if set, unless a gradient is infinite or NaN, and updates the scale. It does not
// wait for the device; see [GradScaler.LastStep].
func (s *GradScaler) Step(o *Optimizer) {
	tensor.NoGrad(func() {
		var r record
		sum := o.nonFinite(&r)
		finite := r.keep(sum.Eq(r.keep(tensor.Zeros())))
		inverse := r.keep(r.keep(tensor.Ones()).Div(s.scale))
		g := o.guarded(finite, inverse)
		g.count()
		s.used.Assign(s.scale.Clone())
		s.made.Assign(finite.Cast(tensor.Float32))
		s.update(&r, finite)
		o.recordStep(g)
		r.release() // before the list runs, so that nothing of it is kept
	})
	tensor.Flush()
}

// update records the change of the scale after a step.
func (s *GradScaler) update(r *record, finite *tensor.Tensor) {
	good := r.keep(tensor.Where(finite, r.keep(s.good.AddScalar(1)), r.keep(tensor.Zeros())))
	grows := r.keep(r.keep(good.AddScalar(1 - scalerEvery)).ReLU()) // 1 if the scale grows, else 0
	grown := r.keep(r.keep(r.times(s.scale, scalerGrowth).Minimum(r.keep(tensor.Full(scalerLimit)))).Maximum(s.scale))
	next := r.keep(tensor.Where(grows, grown, s.scale))
	s.scale.Assign(tensor.Where(finite, next, r.times(s.scale, scalerBackoff)))
	s.good.Assign(tensor.Where(grows, r.keep(tensor.Zeros()), good))
	s.skipped.Assign(tensor.Where(finite, s.skipped, r.keep(s.skipped.AddScalar(1))))
}

// LastStep returns, as scalars, the scale of the newest step and 1 if that step was made or 0
// if it was skipped. It does not wait for the device. The caller releases the tensors.
func (s *GradScaler) LastStep() (scale, made *tensor.Tensor) { return s.used.Clone(), s.made.Clone() }

// LossScale returns the current scale.
func (s *GradScaler) LossScale() float64 { return s.scale.Item() }

// Skipped returns the number of steps that were skipped.
func (s *GradScaler) Skipped() int { return int(s.skipped.Item()) }

// String returns the scale and the number of skipped steps.
func (s *GradScaler) String() string {
	return fmt.Sprintf("loss scale %g, %d steps skipped", s.LossScale(), s.Skipped())
}

// GradScalerState is the state of a [GradScaler], for saving it to a file.
type GradScalerState struct {
	Scale     float64 // factor of the loss
	GoodSteps int     // steps since the scale changed
	Skipped   int     // steps whose gradients overflowed
}

// State returns the state of the scaler.
func (s *GradScaler) State() GradScalerState {
	return GradScalerState{s.LossScale(), int(s.good.Item()), s.Skipped()}
}

// SetState sets the state of the scaler, and fails if it is not valid.
func (s *GradScaler) SetState(state GradScalerState) error {
	if !(state.Scale > 0) || state.Scale > math.MaxFloat32 || state.GoodSteps < 0 || state.GoodSteps >= scalerEvery || state.Skipped < 0 {
		return fmt.Errorf("optim: GradScaler.SetState: %+v is not a valid state: the scale must be positive and finite, GoodSteps in [0, 2000), and Skipped at least 0", state)
	}
	*s = *newScaler(state)
	return nil
}

// nonFinite returns 0 if all gradients are finite, else NaN.
func (o *Optimizer) nonFinite(r *record) *tensor.Tensor {
	parameters, gradients := withGradients(r, nn.Parameters(o.model))
	if len(gradients) == 0 && !isSharded(o.model) {
		return r.keep(tensor.Zeros())
	}
	// x·0 is 0, or NaN if x is NaN or infinite.
	zeros := func(g *tensor.Tensor) *tensor.Tensor { return r.keep(r.times(g, 0).Sum()) }
	return r.like(o.sum(r, parameters, gradients, zeros), r.keep(tensor.Zeros()))
}
