package accel

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/tensor"
)

// Mixup trains on mixtures of examples (Zhang et al., arXiv:1710.09412): each batch is mixed
// with a permutation of itself,
//
//	x = λ·x + (1-λ)·x',   loss = λ·loss(y) + (1-λ)·loss(y')
//
// where λ is drawn for each batch from the distribution Beta(alpha, alpha): 0.2 mixes a little,
// 1 evenly. The mixing runs on the device; [Seed] determines the random numbers. Training
// accuracy is measured against y. Mixup needs numeric examples, not tokens.
func Mixup(alpha float64) Option {
	text := fmt.Sprintf("Mixup(%g)", alpha)
	return fitOption(text, func(c *options) error {
		if !(alpha > 0) || math.IsInf(alpha, 1) {
			return fmt.Errorf("accel: %s: alpha must be positive and finite", text)
		}
		c.mixup = alpha
		return nil
	})
}

// mixture is a batch that is mixed with itself.
type mixture struct {
	share float64 // λ
	order *Tensor // permutation of the examples; nil if nothing is mixed
}

// mix mixes the examples of a batch, unless alpha is 0.
func mix(alpha float64, b *data.Batch) (m mixture) {
	if alpha == 0 {
		return m
	}
	var g *tensor.Generator
	m.share = beta(g, alpha)
	m.order = tensor.FromInts(g.Perm(b.Len()), b.Len())
	others := b.X.IndexSelect(m.order)
	ours, theirs := b.X.MulScalar(m.share), others.MulScalar(1-m.share)
	b.X = ours.Add(theirs)
	for _, t := range []*Tensor{others, ours, theirs} {
		t.Release()
	}
	return m
}

// loss returns the loss of a mixture.
func (m mixture) loss(loss func(prediction, target *Tensor) *Tensor, prediction, y *Tensor) *Tensor {
	if m.order == nil {
		return loss(prediction, y)
	}
	others := y.IndexSelect(m.order)
	defer others.Release()
	return loss(prediction, y).MulScalar(m.share).Add(loss(prediction, others).MulScalar(1 - m.share))
}

// beta draws from the distribution Beta(a, a).
func beta(g *tensor.Generator, a float64) float64 {
	x, y := gamma(g, a), gamma(g, a)
	if x+y == 0 { // both underflow if a is tiny: the limit is a fair choice between 0 and 1
		return math.Round(g.Float64())
	}
	return x / (x + y)
}

// gamma draws from the gamma distribution of the given shape parameter (Marsaglia and Tsang,
// ACM TOMS 26(3), 2000).
func gamma(g *tensor.Generator, shape float64) float64 {
	if shape < 1 {
		return gamma(g, shape+1) * math.Pow(1-g.Float64(), 1/shape)
	}
	d := shape - 1./3
	c := 1 / math.Sqrt(9*d)
	for {
		x := math.Sqrt(-2*math.Log(1-g.Float64())) * math.Cos(2*math.Pi*g.Float64())
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-g.Float64()) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
