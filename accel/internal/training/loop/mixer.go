package loop

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/tensor"
)

// Mixer mixes batches with themselves.
type Mixer struct {
	Alpha float64 // 0: it does nothing
	Cut   bool    // rectangles, for CutMix
}

// check returns an error if the examples of a data set cannot be mixed.
func (m Mixer) check(set *data.Dataset) error {
	name := "Mixup"
	if m.Cut {
		name = "CutMix"
	}
	switch n := len(set.Shape()); {
	case m.Alpha == 0:
		return nil
	case set.SequenceLength() > 0 || set.Len() > 0 && set.Length(0) > 0:
		return fmt.Errorf("accel: %s(%g): the examples of %s are tokens, which cannot be mixed: leave out %s", name, m.Alpha, set.Name(), name)
	case m.Cut && (n < 2 || n > 3):
		return fmt.Errorf("accel: CutMix(%g): the examples of %s have shape %v, but images of shape [C H W] or [H W] are needed: use Mixup", m.Alpha, set.Name(), set.Shape())
	}
	return nil
}

// mixture is a batch that is mixed with itself.
type mixture struct {
	share float64        // λ
	order *tensor.Tensor // permutation of the examples; nil if nothing is mixed
}

// mix mixes the examples of a batch, unless alpha is 0.
func (m Mixer) mix(b *data.Batch) (mixed mixture) {
	if m.Alpha == 0 {
		return mixed
	}
	var g *tensor.Generator
	mixed.share = beta(g, m.Alpha)
	mixed.order = tensor.FromInts(g.Perm(b.Len()), b.Len())
	others := b.X.IndexSelect(mixed.order)
	defer others.Release()
	if m.Cut {
		var inside *tensor.Tensor
		inside, mixed.share = cutMask(g, b.X.Shape(), mixed.share)
		defer inside.Release()
		b.X = tensor.Where(inside, others, b.X)
		return mixed
	}
	ours, theirs := b.X.MulScalar(mixed.share), others.MulScalar(1-mixed.share)
	b.X = ours.Add(theirs)
	ours.Release()
	theirs.Release()
	return mixed
}

// cutMask draws a rectangle of about 1-λ of the area, as torchvision's CutMix does, and returns a
// mask [H, W] that is 1 inside, and the exact share outside of it.
func cutMask(g *tensor.Generator, shape []int, share float64) (inside *tensor.Tensor, outside float64) {
	height, width := shape[len(shape)-2], shape[len(shape)-1]
	index := func(n int) int { return min(int(g.Float64()*float64(n)), n-1) }
	right, down := index(width), index(height)
	side := 0.5 * math.Sqrt(1-share)
	halfWidth, halfHeight := int(side*float64(width)), int(side*float64(height))
	mask, n := make([]float32, height*width), 0
	for row := max(down-halfHeight, 0); row < min(down+halfHeight, height); row++ {
		for column := max(right-halfWidth, 0); column < min(right+halfWidth, width); column++ {
			mask[row*width+column] = 1
			n++
		}
	}
	return tensor.New(mask, height, width), 1 - float64(n)/float64(height*width)
}

// loss returns the loss of a mixture, and what it was divided by; nil for the number of examples.
func (m mixture) loss(loss func(prediction, target *tensor.Tensor) *tensor.Tensor, prediction, y *tensor.Tensor) (value, divisor *tensor.Tensor) {
	value, divisor = lossAndDivisor(loss, prediction, y)
	if m.order == nil {
		return value, divisor
	}
	mix := func(a, b *tensor.Tensor) *tensor.Tensor { return a.MulScalar(m.share).Add(b.MulScalar(1 - m.share)) }
	others := y.IndexSelect(m.order)
	defer others.Release()
	second, by := lossAndDivisor(loss, prediction, others)
	if divisor != nil && by != nil {
		divisor = mix(divisor, by)
	}
	return mix(value, second), divisor
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
