package optim

import (
	"math"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/tensor"
)

// Adam divides the mean of the gradient by the root of its mean square (Kingma and Ba, 2015,
// algorithm 1). For gradient g of parameter p at step t:
//
//	g = g + decay·p
//	m = β1·m + (1-β1)·g
//	v = β2·v + (1-β2)·g²
//	p = p - rate · (m / (1-β1ᵗ)) / (√(v / (1-β2ᵗ)) + ε)
//
// model is as for [AdamW]. With weight decay, prefer AdamW, which decouples it from the
// gradient. Options are [WeightDecay], [Betas] and [Epsilon].
func Adam(model any, rate float64, given ...Option) *Optimizer {
	r := rule{name: "Adam", update: func(r *record, p, g *tensor.Tensor, s *state, rate float64, o options) {
		s.average(r, r.decayed(g, p, o), o)
		r.assign(p, s.adam(r, adamStep, s.first, rate, o, p))
	}}
	return newOptimizer(model, rate, r, options{beta1: 0.9, beta2: 0.999, epsilon: 1e-8}, given, ofAdam...)
}

// ofAdam are the options of Adam and of optimizers like it.
var ofAdam = []string{"WeightDecay", "Betas", "Epsilon"}

// AdamW is [Adam] with decoupled weight decay (Loshchilov and Hutter, 2019, algorithm 2). For
// gradient g of parameter p at step t:
//
//	p = p · (1 - rate·decay)
//	m = β1·m + (1-β1)·g
//	v = β2·v + (1-β2)·g²
//	p = p - rate · (m / (1-β1ᵗ)) / (√(v / (1-β2ᵗ)) + ε)
//
// model is anything that [nn.Parameters] accepts: a module, a struct or slice of modules, or
// tensors. Options are [WeightDecay], [Betas] and [Epsilon].
func AdamW(model any, rate float64, given ...Option) *Optimizer {
	return newOptimizer(model, rate, rule{name: "AdamW", update: adamW}, options{beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0.01}, given, ofAdam...)
}

func adamW(r *record, p, g *tensor.Tensor, s *state, rate float64, o options) {
	s.average(r, g, o)
	r.assign(p, s.adam(r, adamWStep, s.first, rate, o, p))
}

// LAMB takes steps in the direction of [AdamW] whose length is proportional to the norm of the
// parameter (You et al., Large Batch Optimization for Deep Learning, 2020, algorithm 2). It is
// made for very large batches. For gradient g of parameter p at step t:
//
//	m = β1·m + (1-β1)·g
//	v = β2·v + (1-β2)·g²
//	u = (m / (1-β1ᵗ)) / (√(v / (1-β2ᵗ)) + ε) + decay·p
//	p = p - rate · ‖p‖/‖u‖ · u
//
// where ‖p‖/‖u‖ is replaced by 1 if either norm is 0. model is as for [AdamW]. Options are
// [WeightDecay], [Betas] and [Epsilon].
func LAMB(model any, rate float64, given ...Option) *Optimizer {
	r := rule{name: "LAMB", whole: true, update: func(r *record, p, g *tensor.Tensor, s *state, rate float64, o options) {
		s.average(r, g, o)
		direction := r.decayed(r.keep(s.adam(r, adamDirection, s.first, 1, o)), p, o)
		ours, its := r.norm(p), r.norm(direction)
		one := r.like(r.keep(tensor.Ones()), ours)
		none := func(norm *tensor.Tensor) *tensor.Tensor { return r.keep(norm.EqScalar(0)) }
		trust := r.keep(tensor.Where(none(ours), one, r.keep(tensor.Where(none(its), one, r.keep(ours.Div(its))))))
		r.assign(p, p.Sub(r.keep(r.times(direction, rate).Mul(trust))))
	}}
	return newOptimizer(model, rate, r, options{beta1: 0.9, beta2: 0.999, epsilon: 1e-6, weightDecay: 0.01}, given, ofAdam...)
}

// average updates the running means of the gradient and of its square.
func (s *state) average(r *record, g *tensor.Tensor, o options) {
	r.average(&s.first, o.beta1, g, 1-o.beta1)
	r.averageSquare(&s.second, o.beta2, g, 1-o.beta2)
}

// Composites of u and v, and with a guard of 1-β2ᵗ, by which they divide v, and 1-β1ᵗ if they divide u by it. Their scalars are factors
// of u and of v, ε, the learning rate, and the factor of p.
var (
	adamDirection = &ir.Composing{Name: "AdamDirection", Scalars: 4, Record: normalized}
	adamStep      = &ir.Composing{Name: "AdamStep", Scalars: 4, Record: func(c *ir.Recorder, in []*ir.Value, s []float64) *ir.Value {
		return c.Record(ir.Sub{}, in[0], normalized(c, in[1:], s))
	}}
	adamWStep = &ir.Composing{Name: "AdamWStep", Scalars: 5, Record: func(c *ir.Recorder, in []*ir.Value, s []float64) *ir.Value {
		step := normalized(c, in[1:], s)
		return c.Record(ir.Sub{}, c.MulScalar(in[0], s[4]), step)
	}}
)

// normalized records rate · u / (√v + ε).
func normalized(c *ir.Recorder, in []*ir.Value, s []float64) *ir.Value {
	u, square := in[0], in[1]
	if len(in) > 2 {
		square = c.Record(ir.Div{}, square, in[2])
	}
	if len(in) > 3 {
		u = c.Record(ir.Div{}, u, in[3])
	}
	u = c.MulScalar(u, s[0])
	root := c.Record(ir.AddScalar{Scalar: s[2]}, c.Record(ir.Sqrt{}, c.MulScalar(square, s[1])))
	return c.Record(ir.Div{}, c.MulScalar(u, s[3]), root)
}

// adam returns the result of a composite for u, which is divided by 1-β1ᵗ if it is the running mean, after other inputs.
func (s *state) adam(r *record, of *ir.Composing, u *tensor.Tensor, rate float64, o options, before ...*tensor.Tensor) *tensor.Tensor {
	in, scalars := append(before, u, s.second), ir.Scalars{1, 1, o.epsilon, rate, 1 - rate*o.weightDecay}
	if first, second := r.corrections(s); second != nil {
		if in = append(in, second); u == s.first {
			in = append(in, first)
		}
	} else {
		scalars[1] = 1 / (1 - math.Pow(o.beta2, float64(s.steps)))
		if u == s.first {
			scalars[0] = 1 / (1 - math.Pow(o.beta1, float64(s.steps)))
		}
	}
	return composite(of, scalars, in...)
}
