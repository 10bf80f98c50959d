package optim

import (
	"math"

	"github.com/quernlab/quern/accel/tensor"
)

// Muon takes steps that are nearly orthogonal matrices (Jordan et al., Muon: An optimizer for
// hidden layers in neural networks, 2024). For gradient g of a matrix p [out, in]:
//
//	m = momentum·m + (1-momentum)·g
//	u = (1-momentum)·g + momentum·m
//	p = p · (1 - rate·decay) - rate · 0.2·√max(out, in) · orthogonal(u)
//
// where orthogonal is five Newton-Schulz iterations. The factor 0.2·√max(out, in) is that of
// Liu et al., Muon is Scalable for LLM Training, 2025: steps are as large as AdamW's, so that
// both use the same learning rate. Parameters with one dimension, such as biases and scales,
// are updated by [AdamW] with the same rate and decay. Parameters with more than two
// dimensions, such as convolution kernels, are reshaped to matrices with one row for each index
// of the first dimension. model is as for AdamW. Options are [WeightDecay], [Momentum] and, for
// one-dimensional parameters, [Betas] and [Epsilon].
func Muon(model any, rate float64, given ...Option) *Optimizer {
	return newOptimizer(model, rate, rule{name: "Muon", whole: true, update: muon}, options{momentum: 0.95, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0.1}, given, "WeightDecay", "Momentum", "Betas", "Epsilon")
}

func muon(r *record, p, g *tensor.Tensor, s *state, rate float64, o options) {
	if p.NDim() < 2 || p.Numel() == 0 {
		adamW(r, p, g, s, rate, o)
		return
	}
	r.average(&s.first, o.momentum, g, 1-o.momentum)
	u := r.add(r.times(g, 1-o.momentum), r.times(s.first, o.momentum))
	rows, columns := p.Size(0), p.Numel()/p.Size(0)
	step := r.orthogonal(r.keep(u.Reshape(rows, columns)))
	length := rate * 0.2 * math.Sqrt(float64(max(rows, columns)))
	r.assign(p, r.times(p, 1-rate*o.weightDecay).Sub(r.times(r.keep(step.Reshape(p.Shape()...)), length)))
}

// orthogonal moves the singular values of a matrix close to 1 by five iterations
//
//	x = a·x + (b·xxᵀ + c·(xxᵀ)²)·x
//
// from x/‖x‖. Jordan's coefficients trade exactness for fast growth of small singular values.
func (r *record) orthogonal(x *tensor.Tensor) *tensor.Tensor {
	const a, b, c = 3.4445, -4.7750, 2.0315
	tall := x.Size(0) > x.Size(1)
	if tall {
		x = r.keep(x.T())
	}
	x = r.keep(x.Div(r.keep(r.norm(x).Maximum(r.like(r.keep(tensor.Full(1e-7)), x)))))
	for range 5 {
		gram := r.keep(x.MatMul(r.keep(x.T())))
		change := r.add(r.times(gram, b), r.times(r.keep(gram.MatMul(gram)), c))
		x = r.add(r.times(x, a), r.keep(change.MatMul(x)))
	}
	if tall {
		x = r.keep(x.T())
	}
	return x
}
