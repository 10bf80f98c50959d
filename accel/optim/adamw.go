package optim

import (
	"math"

	"github.com/quernlab/quern/accel/tensor"
)

// AdamW is Adam with decoupled weight decay (Loshchilov and Hutter, 2019,
// algorithm 2), for gradient g of parameter p at step t:
//
//	p = p · (1 - rate·decay)
//	m = β1·m + (1-β1)·g
//	v = β2·v + (1-β2)·g²
//	p = p - rate · (m / (1-β1ᵗ)) / (√(v / (1-β2ᵗ)) + ε)
//
// model is whatever [nn.Parameters] can look into: a module, a struct or slice
// of modules, or tensors. Options are [WeightDecay], [Betas] and [Epsilon].
func AdamW(model any, rate float64, given ...Option) *Optimizer {
	return newOptimizer(model, rate, adamW{}, given)
}

type adamW struct{}

func (adamW) String() string { return "AdamW" }

func (adamW) update(r *record, p, g *tensor.Tensor, s *state, rate float64, o options) {
	if s.first == nil {
		s.first, s.second = tensor.Zeros(p.Shape()...), tensor.Zeros(p.Shape()...)
	}
	t := float64(s.steps)
	s.first.Assign(r.fade(r.add(r.times(s.first, o.beta1), r.times(g, 1-o.beta1))))
	s.second.Assign(r.fade(r.add(r.times(s.second, o.beta2), r.times(r.keep(g.Square()), 1-o.beta2))))
	root := r.keep(r.times(s.second, 1/(1-math.Pow(o.beta2, t))).Sqrt())
	step := r.keep(r.times(s.first, rate/(1-math.Pow(o.beta1, t))).Div(r.keep(root.AddScalar(o.epsilon))))
	p.Assign(r.times(p, 1-rate*o.weightDecay).Sub(step))
}
