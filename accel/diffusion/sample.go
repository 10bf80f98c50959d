package diffusion

import (
	"context"
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Option configures [Schedule.DDPM] and [Schedule.DDIM].
type Option struct{ setting }

type setting = option.Of[sampler]

// Condition gives the model a tensor with what it should generate, after the time step: for a model that was trained
// with classes, floats or integers [N] with the class of each example. An embedding truncates floats that are no
// integers.
func Condition(on *tensor.Tensor) Option {
	return Option{option.New(func(s *sampler) { s.condition = on }, "Condition", option.Code("on"))}
}

// Clip limits the clean example that each step predicts to -limit..limit, the range of the examples: 1 for images that
// are scaled to -1..1. With [Cosine] it is needed, because the first steps multiply errors of the model.
func Clip(limit float64) Option {
	return Option{option.New(func(s *sampler) { s.limit = limit }, "Clip", limit).Require(limit > 0, "the limit must be positive")}
}

// Eta sets the share η of random noise in the steps of [Schedule.DDIM], from 0, the default, to 1, that of DDPM.
func Eta(share float64) Option {
	return Option{option.New(func(s *sampler) { s.eta = share }, "Eta", share).Require(share >= 0 && share <= 1, "the share must be from 0 to 1")}
}

// Generator sets where the noise of the steps is drawn from. The default generator is that of accel.Seed.
func Generator(g *tensor.Generator) Option {
	return Option{option.New(func(s *sampler) { s.generator = g }, "Generator", option.Code("g"))}
}

// DDPM generates examples from noise [N, …] of the standard normal distribution by all T steps of Ho et al. (2020), from
// the last one to the first. Each adds noise with the variance β̃_t = β_t·(1-ᾱ_{t-1})/(1-ᾱ_t). The result has the shape
// of the noise.
//
// The model gets the examples, the step and the condition as nn.Pack combines them, in evaluation mode and without
// gradients. It returns the noise, or with [Schedule.PredictVelocity] the velocity, in any shape with the values of
// the examples. Another number of values is a *tensor.ShapeError, an output that is not finite a
// *tensor.NonFiniteError; and if ctx is done, its error is returned.
func (s *Schedule) DDPM(ctx context.Context, model nn.Module, noise *tensor.Tensor, options ...Option) (*tensor.Tensor, error) {
	return s.sample(ctx, "DDPM", model, noise, len(s.bars), sampler{eta: 1}, options)
}

// DDIM is [Schedule.DDPM] with fewer steps, such as 50 of 1000, which are evenly spaced, and without random noise, so
// that the noise at the beginning determines the examples (Song et al., 2021). The last step T-1 is always the
// first.
func (s *Schedule) DDIM(ctx context.Context, model nn.Module, noise *tensor.Tensor, steps int, options ...Option) (*tensor.Tensor, error) {
	return s.sample(ctx, "DDIM", model, noise, steps, sampler{}, options, "Eta")
}

// sampler generates examples. DDPM is DDIM with all steps and η = 1.
type sampler struct {
	*Schedule
	model      nn.Module
	condition  *tensor.Tensor
	limit, eta float64
	generator  *tensor.Generator
}

func (s *Schedule) sample(ctx context.Context, call string, model nn.Module, noise *tensor.Tensor, steps int, m sampler, options []Option, more ...string) (_ *tensor.Tensor, err error) {
	if err := interrupt.RequireContext(ctx, "diffusion: "+call); err != nil {
		return nil, err
	}
	m.Schedule, m.model, m.limit = s, model, math.Inf(1)
	if err := option.Apply("diffusion."+call, &m, options, append([]string{"Condition", "Clip", "Generator"}, more...)...); err != nil {
		return nil, err
	}
	switch {
	case model == nil || noise == nil:
		return nil, fmt.Errorf("diffusion: %s: the model or the noise is nil", call)
	case steps < 1 || steps > len(s.bars):
		return nil, fmt.Errorf("diffusion: %s: %d steps: the schedule has %d", call, steps, len(s.bars))
	case noise.NDim() < 2 || noise.Numel() == 0 || noise.DType() != tensor.Float32 && noise.DType() != tensor.Float64:
		return nil, fmt.Errorf("diffusion: %s: the noise is %v of shape %v: it must be float32 or float64 [N …] with at least one value", call, noise.DType(), noise.Shape())
	}
	defer nn.Catch(&err)
	defer nn.Eval(model)()
	x := noise
	for k := steps - 1; k >= 0; k-- {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		at, to := len(s.bars)*(k+1)/steps-1, len(s.bars)*k/steps-1
		tensor.NoGrad(func() { x = m.step(x, at, to) })
		tensor.Flush()
	}
	x = x.RequireFinite("the examples that diffusion." + call + " generates")
	tensor.Flush()
	tensor.Synchronize()
	return x, nil
}

// step returns the examples x at the earlier step to, -1 for the clean ones, from those at the step at. The factors
// are tensors, so that all steps have the same plan.
func (m *sampler) step(x *tensor.Tensor, at, to int) *tensor.Tensor {
	scalar := func(v float64) *tensor.Tensor { return tensor.FromFloat64s([]float64{v}).Cast(x.DType()) }
	bar, before := m.AlphaBar(at), m.AlphaBar(to)
	keep, add := scalar(math.Sqrt(bar)), scalar(math.Sqrt(1-bar))
	predicted := m.predict(x, at)
	var clean *tensor.Tensor
	if m.velocity {
		clean = x.Mul(keep).Sub(predicted.Mul(add))
	} else {
		clean = x.Sub(predicted.Mul(add)).Div(keep)
	}
	if !math.IsInf(m.limit, 1) {
		clean = clean.Clamp(-m.limit, m.limit)
	}
	// The noise that leads from the clean example to x, also if that was clipped.
	noise := x.Sub(clean.Mul(keep)).Div(add)
	deviation := m.eta * math.Sqrt((1-before)/(1-bar)*(1-bar/before))
	y := clean.Mul(scalar(math.Sqrt(before))).Add(noise.Mul(scalar(math.Sqrt(max(1-before-deviation*deviation, 0)))))
	if m.eta > 0 && to >= 0 {
		y = y.Add(tensor.Randn(m.generator, x.Shape()...).Cast(x.DType()).Mul(scalar(deviation)))
	}
	return y
}

// predict calls the model for examples that are all at one step.
func (m *sampler) predict(x *tensor.Tensor, at int) *tensor.Tensor {
	n := x.Size(0)
	in := []*tensor.Tensor{x, tensor.Full(float64(at), n, 1).Cast(x.DType())}
	if m.condition != nil {
		in = append(in, m.condition.Cast(x.DType()))
	}
	y := m.model.Forward(nn.Pack(in...))
	if y.Numel() != x.Numel() || y.Size(0) != n {
		fail("predict", "the model must return a value for each value of the examples", x.Shape(), y.Shape())
	}
	return y.Reshape(x.Shape()...).Cast(x.DType())
}
