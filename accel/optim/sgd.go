package optim

import "github.com/quernlab/quern/accel/tensor"

// SGD is stochastic gradient descent with optional momentum. For gradient g of parameter p:
//
//	g = g + decay·p
//	m = momentum·m + g               m = g at the first step
//	g = m, or g + momentum·m with Nesterov
//	p = p - rate·g
//
// This is the form that PyTorch computes (after Sutskever et al., On the importance of
// initialization and momentum in deep learning, 2013). model is as for [AdamW]. Options are
// [Momentum], [Nesterov] and [WeightDecay].
func SGD(model any, rate float64, given ...Option) *Optimizer {
	return newOptimizer(model, rate, sgd{}, options{}, given, "Momentum", "Nesterov", "WeightDecay")
}

type sgd struct{}

func (sgd) String() string { return "SGD" }

func (sgd) update(r *record, p, g *tensor.Tensor, s *state, rate float64, o options) {
	if o.weightDecay != 0 {
		g = r.add(g, r.times(p, o.weightDecay))
	}
	if o.momentum != 0 {
		if s.first == nil {
			s.first = tensor.Zeros(p.Shape()...)
		}
		r.assign(s.first, r.flushDenormals(r.add(r.times(s.first, o.momentum), g)))
		if o.nesterov {
			g = r.add(g, r.times(s.first, o.momentum))
		} else {
			g = s.first
		}
	}
	r.assign(p, p.Sub(r.times(g, rate)))
}
