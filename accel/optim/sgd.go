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
	r := rule{name: "SGD", update: func(r *record, p, g *tensor.Tensor, s *state, rate float64, o options) {
		g = r.decayed(g, p, o)
		if o.momentum != 0 {
			r.average(&s.first, o.momentum, g, 1)
			if o.nesterov {
				g = r.add(g, r.times(s.first, o.momentum))
			} else {
				g = s.first
			}
		}
		r.assign(p, p.Sub(r.times(g, rate)))
	}}
	return newOptimizer(model, rate, r, options{}, given, "Momentum", "Nesterov", "WeightDecay")
}

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
	r := rule{name: "RMSprop", update: func(r *record, p, g *tensor.Tensor, s *state, rate float64, o options) {
		g = r.decayed(g, p, o)
		r.averageSquare(&s.second, o.alpha, g, 1-o.alpha)
		step := r.keep(g.Div(r.keep(r.keep(s.second.Sqrt()).AddScalar(o.epsilon))))
		if o.momentum != 0 {
			r.average(&s.first, o.momentum, step, 1)
			step = s.first
		}
		r.assign(p, p.Sub(r.times(step, rate)))
	}}
	return newOptimizer(model, rate, r, options{alpha: 0.99, epsilon: 1e-8}, given, "Alpha", "Momentum", "WeightDecay", "Epsilon")
}

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
	r := rule{name: "Adagrad", update: func(r *record, p, g *tensor.Tensor, s *state, rate float64, o options) {
		g = r.decayed(g, p, o)
		if s.second == nil {
			s.second = newMean(p)
		}
		r.assign(s.second, s.second.Add(r.keep(g.Square())))
		r.assign(p, p.Sub(r.keep(r.times(g, rate).Div(r.keep(r.keep(s.second.Sqrt()).AddScalar(o.epsilon))))))
	}}
	return newOptimizer(model, rate, r, options{epsilon: 1e-10}, given, "WeightDecay", "Epsilon")
}

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
	r := rule{name: "Lion", update: func(r *record, p, g *tensor.Tensor, s *state, rate float64, o options) {
		if s.first == nil {
			s.first = newMean(p)
		}
		direction := r.keep(r.add(r.times(s.first, o.beta1), r.times(g, 1-o.beta1)).Sign())
		r.assign(p, r.times(p, 1-rate*o.weightDecay).Sub(r.times(direction, rate)))
		r.average(&s.first, o.beta2, g, 1-o.beta2)
	}}
	return newOptimizer(model, rate, r, options{beta1: 0.9, beta2: 0.99}, given, "Betas", "WeightDecay")
}
