package optim

import "github.com/quernlab/quern/accel/tensor"

// Adagrad divides the gradient by the root of the sum of all its squares so far (Duchi et al.,
// Adaptive Subgradient Methods, 2011), so that parameters with rare gradients take larger steps.
// For gradient g of parameter p:
//
//	g = g + decay·p
//	v = v + g²
//	p = p - rate · g / (√v + ε)
//
// model is as for [AdamW]. Options are [WeightDecay] and [Epsilon].
func Adagrad(model any, rate float64, given ...Option) *Optimizer {
	return newOptimizer(model, rate, adagrad{}, options{epsilon: 1e-10}, given, "WeightDecay", "Epsilon")
}

type adagrad struct{}

func (adagrad) String() string { return "Adagrad" }

func (adagrad) update(r *record, p, g *tensor.Tensor, s *state, rate float64, o options) {
	if o.weightDecay != 0 {
		g = r.add(g, r.times(p, o.weightDecay))
	}
	if s.second == nil {
		s.second = tensor.Zeros(p.Shape()...)
	}
	r.assign(s.second, s.second.Add(r.keep(g.Square())))
	r.assign(p, p.Sub(r.keep(r.times(g, rate).Div(r.keep(r.keep(s.second.Sqrt()).AddScalar(o.epsilon))))))
}
