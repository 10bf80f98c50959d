package optim

import "github.com/quernlab/quern/accel/tensor"

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
	return newOptimizer(model, rate, adamW{}, options{beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0.01}, given, "WeightDecay", "Betas", "Epsilon")
}

type adamW struct{}

func (adamW) String() string { return "AdamW" }

func (adamW) update(r *record, p, g *tensor.Tensor, s *state, rate float64, o options) {
	mean, root := s.moments(r, g, o)
	step := r.keep(r.times(mean, rate).Div(r.keep(root.AddScalar(o.epsilon))))
	r.assign(p, r.times(p, 1-rate*o.weightDecay).Sub(step))
}
