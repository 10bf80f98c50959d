package optim

import "github.com/quernlab/quern/accel/tensor"

// Lion takes steps of the same length in each element (Chen et al., Symbolic Discovery of
// Optimization Algorithms, 2023, algorithm 2). For gradient g of parameter p:
//
//	u = β1·m + (1-β1)·g
//	p = p - rate · (sign(u) + decay·p)
//	m = β2·m + (1-β2)·g
//
// The authors recommend a learning rate 3 to 10 times smaller than that of [AdamW], and a weight
// decay larger by the same factor. model is as for AdamW. Options are [Betas] (default 0.9 and
// 0.99) and [WeightDecay] (default 0).
func Lion(model any, rate float64, given ...Option) *Optimizer {
	return newOptimizer(model, rate, lion{}, options{beta1: 0.9, beta2: 0.99}, given, "Betas", "WeightDecay")
}

type lion struct{}

func (lion) String() string { return "Lion" }

func (lion) update(r *record, p, g *tensor.Tensor, s *state, rate float64, o options) {
	if s.first == nil {
		s.first = tensor.Zeros(p.Shape()...)
	}
	direction := r.keep(r.add(r.times(s.first, o.beta1), r.times(g, 1-o.beta1)).Sign())
	r.assign(p, r.times(p, 1-rate*o.weightDecay).Sub(r.times(direction, rate)))
	r.assign(s.first, r.flushDenormals(r.add(r.times(s.first, o.beta2), r.times(g, 1-o.beta2))))
}
