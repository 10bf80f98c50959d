package cpu

import (
	"math"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var _ = implementFloat32[ir.BatchNorm](newBatchNorm)
var _ = implementFloat32[ir.BatchNormInputGradient](newBatchNormInput)
var _ = implementFloat32[ir.BatchNormSums](newBatchNormSums)
var _ = implementFloat32[ir.BatchStatistics](newBatchStatistics)

// channels is the state that the steps of batch normalization share: x [N, C, S] with one
// mean and variance per channel.
type channels struct {
	device  *Device
	step    ir.Step
	n, c, s int
	epsilon float64
	per     int // images of a channel per chunk
	several int // channels per chunk, if they are small
}

func newChannels(d *Device, s ir.Step, epsilon float64) channels {
	shape := s.In[0].Shape
	k := channels{device: d, step: s, n: shape[0], c: shape[1], s: ir.Len(shape[2:]), epsilon: epsilon}
	parts := max(1, 4*d.pool.size/max(k.c, 1))
	k.per = max(1, (k.n+parts-1)/parts)
	k.several = max(1, min(channelPart/max(k.n*k.s, 1), k.c/(4*d.pool.size)))
	return k
}

// channelPart is the approximate number of elements that are summed in one register.
const channelPart = 4096

// each calls f with blocks of rows of one channel: the offset of the first row, the number
// of rows, and their length. The blocks depend on the shape alone.
func (k *channels) each(c int, f func(at, rows, n int)) {
	if k.s == 0 {
		return
	}
	rows := max(1, channelPart/k.s)
	for i := 0; i < k.n; i += rows {
		for j := 0; j < k.s; j += channelPart {
			f((i*k.c+c)*k.s+j, min(rows, k.n-i), min(channelPart, k.s-j))
		}
	}
}

// pitch returns the distance of the rows of a channel.
func (k *channels) pitch() int { return k.c * k.s }

// in returns an input.
func (k *channels) in(p *program, i int) []float32 { return elements[float32](p, k.step.In[i]) }

// out returns the result.
func (k *channels) out(p *program) []float32 { return elements[float32](p, k.step.Out[0]) }

// empty reports whether x has no elements.
func (k *channels) empty() bool { return k.n*k.c*k.s == 0 }

// scale returns 1/√(variance + ε).
func (k *channels) scale(variance float32) float32 {
	return float32(1 / math.Sqrt(float64(variance)+k.epsilon))
}

// images calls f for some images of a channel, from an offset. A chunk is some images of one channel, or several channels.
func (k *channels) images(f func(c, images, at int)) {
	groups := (k.c + k.several - 1) / k.several
	k.device.pool.each((k.n+k.per-1)/k.per*groups, func(chunk, _ int) {
		from, first := chunk%groups*k.several, chunk/groups*k.per
		for c := from; c < min(from+k.several, k.c); c++ {
			f(c, min(k.per, k.n-first), (first*k.c+c)*k.s)
		}
	})
}

// newBatchStatistics returns a step that computes mean and variance, one channel per chunk.
func newBatchStatistics(d *Device, s ir.Step) (step, error) {
	k, f := newChannels(d, s, 0), &d.channels
	return stepFunc(func(p *program) error {
		if k.empty() {
			return nil
		}
		x, y := k.in(p, 0), k.out(p)
		d.pool.each(k.c, func(c, _ int) {
			mean, squares, count := 0.0, 0.0, float64(k.n*k.s)
			var sum float64
			k.each(c, func(at, rows, n int) {
				f.sum(rows, n, &x[at], k.pitch(), &sum)
				mean += sum
			})
			mean /= count
			var part float32
			k.each(c, func(at, rows, n int) {
				f.square(rows, n, &x[at], k.pitch(), float32(mean), &part)
				squares += float64(part)
			})
			y[c], y[k.c+c] = float32(mean), float32(squares/count)
		})
		return nil
	}), nil
}

// newBatchNorm returns a step that computes (x - mean)·scale + b.
func newBatchNorm(d *Device, s ir.Step) (step, error) {
	k, low := newChannels(d, s, s.Op.(ir.BatchNorm).Epsilon), float32(math.Inf(-1))
	if s.Epilogue != nil {
		low = 0
	}
	return stepFunc(func(p *program) error {
		if k.empty() {
			return nil
		}
		x, statistics, w, b, y := k.in(p, 0), k.in(p, 1), k.in(p, 2), k.in(p, 3), k.out(p)
		k.images(func(c, images, at int) {
			scale := k.scale(statistics[k.c+c]) * w[c]
			d.channels.scale(images, k.s, &y[at], &x[at], k.pitch(), statistics[c], scale, b[c], low)
		})
		return nil
	}), nil
}

// newBatchNormInput returns a step that computes the gradient of x.
func newBatchNormInput(d *Device, s ir.Step) (step, error) {
	op, f := s.Op.(ir.BatchNormInputGradient), &d.channels
	k := newChannels(d, s, op.Epsilon)
	return stepFunc(func(p *program) error {
		if k.empty() {
			return nil
		}
		x, dy, statistics, w, sums, dx := k.in(p, 0), k.in(p, 1), k.in(p, 2), k.in(p, 3), k.in(p, 4), k.out(p)
		count := float32(k.n * k.s)
		k.images(func(c, images, at int) {
			scale := k.scale(statistics[k.c+c])
			if !op.Training {
				f.scale(images, k.s, &dx[at], &dy[at], k.pitch(), 0, scale*w[c], 0, float32(math.Inf(-1)))
				return
			}
			level, slope := sums[c]/count, scale*sums[k.c+c]/count
			f.slopeScale(images, k.s, &dx[at], &x[at], &dy[at], k.pitch(), statistics[c], level, slope, scale*w[c])
		})
		return nil
	}), nil
}

// newBatchNormSums returns a step that computes Σ dy and Σ dy·x̂, one channel per chunk.
func newBatchNormSums(d *Device, s ir.Step) (step, error) {
	k := newChannels(d, s, s.Op.(ir.BatchNormSums).Epsilon)
	return stepFunc(func(p *program) error {
		x, dy, statistics, y := k.in(p, 0), k.in(p, 1), k.in(p, 2), k.out(p)
		if k.empty() {
			clear(y)
			return nil
		}
		d.pool.each(k.c, func(c, _ int) {
			mean, scale := statistics[c], k.scale(statistics[k.c+c])
			sum, product := 0.0, 0.0
			var sums [2]float32
			k.each(c, func(at, rows, n int) {
				d.channels.slope(rows, n, &x[at], &dy[at], k.pitch(), mean, &sums[0])
				sum += float64(sums[0])
				product += float64(sums[1])
			})
			y[c], y[k.c+c] = float32(sum), float32(product*float64(scale))
		})
		return nil
	}), nil
}
