package optim

import (
	"math"

	"github.com/quernlab/quern/accel/tensor"
)

// NAdam is [Adam] with Nesterov's momentum (Dozat, Incorporating Nesterov Momentum into Adam, 2016), in
// the form of PyTorch's NAdam. For gradient g of parameter p at step t:
//
//	g  = g + decay·p
//	m  = β1·m + (1-β1)·g
//	v  = β2·v + (1-β2)·g²
//	μₜ = β1·(1 - 0.96^(0.004·t)/2)
//	u  = (1-μₜ)/(1-Πμᵢ, i ≤ t)·g + μₜ₊₁/(1-Πμᵢ, i ≤ t+1)·m
//	p  = p - rate · u / (√(v / (1-β2ᵗ)) + ε)
//
// model is as for [AdamW]. PyTorch's default rate is 0.002. Options are [WeightDecay], [Betas] and
// [Epsilon].
func NAdam(model any, rate float64, given ...Option) *Optimizer {
	n := &nadam{products: map[float64][]float64{}, tables: map[float64]*tensor.Tensor{}}
	return newOptimizer(model, rate, rule{name: "NAdam", update: n.update}, options{beta1: 0.9, beta2: 0.999, epsilon: 1e-8}, given, ofAdam...)
}

// nadam has the products of the momentums by step, for each β1.
type nadam struct {
	products map[float64][]float64
	tables   map[float64]*tensor.Tensor // the same on the device, which counts steps with a scaler
}

func (n *nadam) update(r *record, p, g *tensor.Tensor, s *state, rate float64, o options) {
	g = r.decayed(g, p, o)
	s.average(r, g, o)
	var direction *tensor.Tensor
	if r.guard == nil {
		ofGradient, ofMean := n.factors(s.steps, o.beta1)
		direction = r.add(r.times(g, ofGradient), r.times(s.first, ofMean))
	} else {
		ofGradient, ofMean := n.factorsOnDevice(r, s, o.beta1)
		direction = r.add(r.keep(g.Mul(ofGradient)), r.keep(s.first.Mul(ofMean)))
	}
	r.assign(p, s.adam(r, adamStep, direction, rate, o, p))
}

// nadamDecay is the logarithm of the factor by which the momentum nears β1 in a step.
var nadamDecay = 0.004 * math.Log(0.96)

// momentum returns μ of a step.
func (n *nadam) momentum(step int, beta1 float64) float64 {
	return beta1 * (1 - math.Exp(nadamDecay*float64(step))/2)
}

// productsOf returns the products of the first momentums, up to the one after which they are 0.
func (n *nadam) productsOf(beta1 float64) []float64 {
	if n.products[beta1] == nil {
		all := []float64{1}
		const longest = 1 << 20 // for a β1 of nearly 1
		for last := 1.0; last > 1e-20 && len(all) < longest; all = append(all, last) {
			last *= n.momentum(len(all), beta1)
		}
		n.products[beta1] = all
	}
	return n.products[beta1]
}

// factors returns the factors of the gradient and of its running mean in a step.
func (n *nadam) factors(step int, beta1 float64) (ofGradient, ofMean float64) {
	all := n.productsOf(beta1)
	product, now, next := all[min(step, len(all)-1)], n.momentum(step, beta1), n.momentum(step+1, beta1)
	return (1 - now) / (1 - product), next / (1 - product*next)
}

// factorsOnDevice returns the same as scalars, from the steps that the device has counted.
func (n *nadam) factorsOnDevice(r *record, s *state, beta1 float64) (ofGradient, ofMean *tensor.Tensor) {
	all := n.productsOf(beta1)
	if n.tables[beta1] == nil {
		n.tables[beta1] = tensor.FromFloat64s(all, len(all))
	}
	at := r.guard.indices[s]
	step := r.keep(r.keep(r.guard.counts.Slice(0, at, at+1)).Cast(tensor.Float64))
	index := r.keep(r.keep(step.Clamp(0, float64(len(all)-1))).Cast(tensor.Int32))
	product := r.keep(n.tables[beta1].IndexSelect(index))
	one := r.keep(tensor.FromFloat64s([]float64{1}, 1))
	momentum := func(step *tensor.Tensor) *tensor.Tensor {
		return r.times(r.keep(one.Sub(r.times(r.keep(r.times(step, nadamDecay).Exp()), 0.5))), beta1)
	}
	now, next := momentum(step), momentum(r.keep(step.AddScalar(1)))
	scalar := func(t *tensor.Tensor) *tensor.Tensor { return r.like(r.keep(t.Reshape()), s.first) }
	ofGradient = r.keep(r.keep(one.Sub(now)).Div(r.keep(one.Sub(product))))
	ofMean = r.keep(next.Div(r.keep(one.Sub(r.keep(product.Mul(next))))))
	return scalar(ofGradient), scalar(ofMean)
}
