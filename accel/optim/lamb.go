package optim

import "github.com/quernlab/quern/accel/tensor"

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
	return newOptimizer(model, rate, lamb{}, options{beta1: 0.9, beta2: 0.999, epsilon: 1e-6, weightDecay: 0.01}, given, "WeightDecay", "Betas", "Epsilon")
}

type lamb struct{}

func (lamb) String() string { return "LAMB" }

func (lamb) update(r *record, p, g *tensor.Tensor, s *state, rate float64, o options) {
	mean, root := s.moments(r, g, o)
	direction := r.keep(mean.Div(r.keep(root.AddScalar(o.epsilon))))
	if o.weightDecay != 0 {
		direction = r.add(direction, r.times(p, o.weightDecay))
	}
	ours, its := r.norm(p), r.norm(direction)
	one := r.keep(tensor.Ones())
	trust := r.keep(tensor.Where(ours, r.keep(tensor.Where(its, r.keep(ours.Div(its)), one)), one))
	r.assign(p, p.Sub(r.keep(r.times(direction, rate).Mul(trust))))
}
