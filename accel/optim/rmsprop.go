package optim

import "github.com/quernlab/quern/accel/tensor"

// RMSprop divides the gradient by the root of its mean square (Tieleman and Hinton, 2012), in the
// form of PyTorch's RMSprop. For gradient g of parameter p:
//
//	g = g + decay·p
//	v = α·v + (1-α)·g²
//	m = momentum·m + g / (√v + ε)
//	p = p - rate·m
//
// model is as for [AdamW]. Options are [Alpha] (default 0.99), [Momentum] (default 0),
// [WeightDecay] and [Epsilon].
func RMSprop(model any, rate float64, given ...Option) *Optimizer {
	return newOptimizer(model, rate, rmsProp{}, options{alpha: 0.99, epsilon: 1e-8}, given, "Alpha", "Momentum", "WeightDecay", "Epsilon")
}

type rmsProp struct{}

func (rmsProp) String() string { return "RMSprop" }

func (rmsProp) update(r *record, p, g *tensor.Tensor, s *state, rate float64, o options) {
	if o.weightDecay != 0 {
		g = r.add(g, r.times(p, o.weightDecay))
	}
	if s.second == nil {
		s.second = tensor.Zeros(p.Shape()...)
	}
	r.assign(s.second, r.flushDenormals(r.add(r.times(s.second, o.alpha), r.times(r.keep(g.Square()), 1-o.alpha))))
	step := r.keep(g.Div(r.keep(r.keep(s.second.Sqrt()).AddScalar(o.epsilon))))
	if o.momentum != 0 {
		if s.first == nil {
			s.first = tensor.Zeros(p.Shape()...)
		}
		r.assign(s.first, r.flushDenormals(r.add(r.times(s.first, o.momentum), step)))
		step = s.first
	}
	r.assign(p, p.Sub(r.times(step, rate)))
}
