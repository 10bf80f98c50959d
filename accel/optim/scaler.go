package optim

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/tensor"
)

// Scaler keeps small gradients from vanishing in 16-bit floats: the loss is
// multiplied by a scale before Backward and the gradients are divided by it
// before the update. The scale is found by trying, as by PyTorch's GradScaler
// (Micikevicius et al., Mixed Precision Training, 2018): it starts at 2¹⁶; when
// a gradient is infinite or NaN the step is skipped and the scale halved; after
// 2000 steps in a row without that it is doubled.
//
//	scaler := optim.NewScaler()
//	…
//	scaler.Scale(loss).Backward()
//	skipped := scaler.Step(opt)
//
// It is for one goroutine.
type Scaler struct {
	scale   float64
	good    int // steps since the scale changed
	skipped int
}

const (
	scalerStart   = 1 << 16
	scalerGrowth  = 2
	scalerBackoff = 0.5
	scalerEvery   = 2000
)

// NewScaler makes a scaler with a scale of 2¹⁶.
func NewScaler() *Scaler { return &Scaler{scale: scalerStart} }

// Scale is the loss times the scale.
func (s *Scaler) Scale(loss *tensor.Tensor) *tensor.Tensor { return loss.MulScalar(s.scale) }

// Step divides the gradients by the scale and lets the optimiser step, clipping
// included, unless one of them is infinite or NaN, and changes the scale by its
// rule. It waits for the gradients.
func (s *Scaler) Step(o *Optimizer) (skipped bool) {
	finite := o.finite()
	if finite {
		o.step(1 / s.scale)
	}
	s.update(finite)
	return !finite
}

// update is the rule by which the scale changes after a step.
func (s *Scaler) update(finite bool) {
	if !finite {
		s.scale *= scalerBackoff
		s.good = 0
		s.skipped++
		return
	}
	if s.good++; s.good == scalerEvery {
		s.good = 0
		// Beyond float32 every loss would be infinite.
		if grown := s.scale * scalerGrowth; grown <= math.MaxFloat32 {
			s.scale = grown
		}
	}
}

// Value is the scale now.
func (s *Scaler) Value() float64 { return s.scale }

// Skipped is the number of steps that were skipped.
func (s *Scaler) Skipped() int { return s.skipped }

// String is the scale and how often a step was skipped.
func (s *Scaler) String() string {
	return fmt.Sprintf("loss scale %g, %d steps skipped", s.scale, s.skipped)
}

// ScalerState is what a [Scaler] remembers, for a file.
type ScalerState struct {
	Scale   float64
	Good    int // steps since the scale changed
	Skipped int
}

// State is what the scaler remembers.
func (s *Scaler) State() ScalerState { return ScalerState{s.scale, s.good, s.skipped} }

// SetState goes on from what another scaler remembered.
func (s *Scaler) SetState(state ScalerState) error {
	if !(state.Scale > 0) || math.IsInf(state.Scale, 1) || state.Good < 0 || state.Good >= scalerEvery || state.Skipped < 0 {
		return fmt.Errorf("optim: %+v is no state of a scaler", state)
	}
	*s = Scaler{state.Scale, state.Good, state.Skipped}
	return nil
}

// finite tells whether all gradients are.
func (o *Optimizer) finite() bool {
	sum := 0.0
	tensor.NoGrad(func() {
		var r, stay record // the gradients are needed again
		_, gradients := o.gradients(&stay)
		if len(gradients) == 0 {
			return
		}
		total := r.keep(tensor.Zeros())
		for _, g := range gradients {
			// Products with 0 are 0, and NaN for what is no number.
			total = r.add(total, r.keep(r.times(g, 0).Sum()))
		}
		sum = total.Item()
		r.release()
	})
	return sum == 0
}
