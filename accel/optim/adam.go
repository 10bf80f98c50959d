package optim

import (
	"math"

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
	return newOptimizer(model, rate, adam{}, options{beta1: 0.9, beta2: 0.999, epsilon: 1e-8}, given, "WeightDecay", "Betas", "Epsilon")
}

type adam struct{}

func (adam) String() string { return "Adam" }

func (adam) update(r *record, p, g *tensor.Tensor, s *state, rate float64, o options) {
	if o.weightDecay != 0 {
		g = r.add(g, r.times(p, o.weightDecay))
	}
	mean, root := s.moments(r, g, o)
	r.assign(p, p.Sub(r.keep(r.times(mean, rate).Div(r.keep(root.AddScalar(o.epsilon))))))
}

// moments updates the running means of the gradient and of its square, and returns m / (1-β1ᵗ)
// and √(v / (1-β2ᵗ)).
func (s *state) moments(r *record, g *tensor.Tensor, o options) (mean, root *tensor.Tensor) {
	if s.first == nil {
		s.first, s.second = tensor.Zeros(g.Shape()...), tensor.Zeros(g.Shape()...)
	}
	r.assign(s.first, r.flushDenormals(r.add(r.times(s.first, o.beta1), r.times(g, 1-o.beta1))))
	r.assign(s.second, r.flushDenormals(r.add(r.times(s.second, o.beta2), r.times(r.keep(g.Square()), 1-o.beta2))))
	if first, second := r.corrections(s); first != nil {
		return r.keep(s.first.Div(first)), r.keep(r.keep(s.second.Div(second)).Sqrt())
	}
	t := float64(s.steps)
	mean = r.times(s.first, 1/(1-math.Pow(o.beta1, t)))
	root = r.keep(r.times(s.second, 1/(1-math.Pow(o.beta2, t))).Sqrt())
	return mean, root
}
