package diffusion

import (
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/tensor"
)

// Schedule is the share of noise at each time step: the example x has at step t the value
//
//	x_t = √ᾱ_t·x + √(1-ᾱ_t)·ε
//
// with noise ε of the standard normal distribution. [Linear] and [Cosine] return schedules.
type Schedule struct {
	text     string
	bars     []float64 // ᾱ of each step
	velocity bool      // models predict velocities, not noise
}

// Linear returns the schedule of Ho et al. (2020): the variance β_t that a step adds rises linearly from first to last,
// and ᾱ_t is the product of 1 - β up to t. Theirs is Linear(1000, 1e-4, 0.02); with fewer steps, both
// should be larger. It panics with a *tensor.ShapeError without a step, and unless 0 < first ≤ last < 1.
func Linear(steps int, first, last float64) *Schedule {
	text := fmt.Sprintf("Linear(%d, %g, %g)", steps, first, last)
	if steps < 1 || !(first > 0 && first <= last && last < 1) {
		fail(text, "it needs at least one step, and variances from 0 to 1, of which the first is the smaller one")
	}
	return accumulated(text, steps, func(t int) float64 {
		if steps == 1 {
			return first
		}
		return first + (last-first)*float64(t)/float64(steps-1)
	})
}

// Cosine returns the schedule of Nichol and Dhariwal (2021), which keeps more of the example in the middle, for small
// images: ᾱ falls as cos²(π/2·(t/T + 0.008)/1.008), but a step adds at most the variance 0.999. It panics
// with a *tensor.ShapeError without a step.
func Cosine(steps int) *Schedule {
	text := fmt.Sprintf("Cosine(%d)", steps)
	if steps < 1 {
		fail(text, "it needs at least one step")
	}
	bar := func(t int) float64 {
		c := math.Cos((float64(t)/float64(steps) + 0.008) / 1.008 * math.Pi / 2)
		return c * c
	}
	return accumulated(text, steps, func(t int) float64 { return min(1-bar(t+1)/bar(t), 0.999) })
}

// accumulated returns the schedule for variances β.
func accumulated(text string, steps int, beta func(t int) float64) *Schedule {
	s := &Schedule{text: text, bars: make([]float64, steps)}
	bar := 1.0
	for t := range s.bars {
		bar *= 1 - beta(t)
		s.bars[t] = bar
	}
	if bar < 1e-30 { // the factor of the example would be 0 in float32
		fail(text, "nothing is left of the example at the last step: use fewer steps or smaller variances")
	}
	return s
}

func fail(call, hint string, shapes ...[]int) {
	panic(&tensor.ShapeError{Op: "diffusion." + call, Shapes: shapes, Hint: hint})
}

// PredictVelocity returns the schedule for models that predict velocities ([Schedule.Velocity]) instead of the noise,
// which is better at the last steps, where there is little but noise (Salimans and Ho, 2022).
func (s *Schedule) PredictVelocity() *Schedule {
	v := *s
	v.velocity = true
	return &v
}

// Steps returns the number of time steps.
func (s *Schedule) Steps() int { return len(s.bars) }

// AlphaBar returns ᾱ_t, the share of the variance that is left of the example at step t; 1 at step -1, which is
// the example without noise. It panics if there is no such step, like indexing a slice.
func (s *Schedule) AlphaBar(t int) float64 {
	if t == -1 {
		return 1
	}
	return s.bars[t]
}

// String returns the schedule as Go code.
func (s *Schedule) String() string {
	if s.velocity {
		return "diffusion." + s.text + ".PredictVelocity()"
	}
	return "diffusion." + s.text
}

// AddNoise returns examples x [N, …] with noise of the same shape at time steps t, integers [N]: √ᾱ_t·x + √(1-ᾱ_t)·noise
// for each example. A step that does not exist is a *tensor.IndexError.
func (s *Schedule) AddNoise(x, noise, t *tensor.Tensor) *tensor.Tensor {
	keep, add := s.factors("AddNoise", x, noise, t)
	return x.Mul(keep).Add(noise.Mul(add))
}

// Velocity returns the velocities √ᾱ_t·noise - √(1-ᾱ_t)·x of examples x [N, …] (Salimans and Ho, 2022); the arguments are
// those of [Schedule.AddNoise].
func (s *Schedule) Velocity(x, noise, t *tensor.Tensor) *tensor.Tensor {
	keep, add := s.factors("Velocity", x, noise, t)
	return noise.Mul(keep).Sub(x.Mul(add))
}

// factors returns √ᾱ_t and √(1-ᾱ_t) as [N, 1, …].
func (s *Schedule) factors(op string, x, noise, t *tensor.Tensor) (keep, add *tensor.Tensor) {
	shape, steps := x.Shape(), t.Shape()
	if !slices.Equal(noise.Shape(), shape) || len(shape) == 0 || len(steps) != 1 || steps[0] != shape[0] {
		fail(op, "examples and noise must have the same shape [N …], and the time steps [N]", shape, noise.Shape(), steps)
	}
	each := slices.Repeat([]int{1}, len(shape))
	each[0] = shape[0]
	factor := func(of func(bar float64) float64) *tensor.Tensor {
		table := make([]float64, len(s.bars))
		for i, bar := range s.bars {
			table[i] = of(bar)
		}
		return tensor.FromFloat64s(table, len(table)).Cast(x.DType()).IndexSelect(t).Reshape(each...)
	}
	return factor(math.Sqrt), factor(func(bar float64) float64 { return math.Sqrt(1 - bar) })
}
