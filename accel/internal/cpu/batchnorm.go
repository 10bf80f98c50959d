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

// batchStatistics computes mean and variance, one channel per chunk.
type batchStatistics struct{ channels }

func newBatchStatistics(d *Device, s ir.Step) (step, error) {
	return &batchStatistics{newChannels(d, s, 0)}, nil
}

func (k *batchStatistics) run(p *program) error {
	if k.empty() {
		return nil
	}
	x, y := k.in(p, 0), k.out(p)
	p.device.pool.each(k.c, func(c, _ int) {
		count, f := float64(k.n*k.s), &k.device.channels
		mean, squares := 0.0, 0.0
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
}

// batchNorm computes (x - mean)·scale + b, or the gradient of x. A chunk is some images of
// one channel, or several channels.
type batchNorm struct {
	channels
	low                float32
	gradient, training bool
}

func newBatchNorm(d *Device, s ir.Step) (step, error) {
	k := &batchNorm{channels: newChannels(d, s, s.Op.(ir.BatchNorm).Epsilon), low: float32(math.Inf(-1))}
	if s.Epilogue != nil {
		k.low = 0
	}
	return k, nil
}

func newBatchNormInput(d *Device, s ir.Step) (step, error) {
	op := s.Op.(ir.BatchNormInputGradient)
	return &batchNorm{channels: newChannels(d, s, op.Epsilon), gradient: true, training: op.Training}, nil
}

func (k *batchNorm) run(p *program) error {
	if k.empty() {
		return nil
	}
	bind := k.normalized
	if k.gradient {
		bind = k.slope
	}
	channel := bind(p)
	groups := (k.c + k.several - 1) / k.several
	p.device.pool.each((k.n+k.per-1)/k.per*groups, func(chunk, _ int) {
		from, first := chunk%groups*k.several, chunk/groups*k.per
		for c := from; c < min(from+k.several, k.c); c++ {
			channel(c, min(k.per, k.n-first), (first*k.c+c)*k.s)
		}
	})
	return nil
}

// normalized returns a function that computes some images of a channel, from an offset.
func (k *batchNorm) normalized(p *program) func(c, images, at int) {
	x, statistics, w, b, y := k.in(p, 0), k.in(p, 1), k.in(p, 2), k.in(p, 3), k.out(p)
	return func(c, images, at int) {
		scale := k.scale(statistics[k.c+c]) * w[c]
		k.device.channels.scale(images, k.s, &y[at], &x[at], k.pitch(), statistics[c], scale, b[c], k.low)
	}
}

// slope is normalized for the gradient.
func (k *batchNorm) slope(p *program) func(c, images, at int) {
	x, dy, statistics, w, sums, dx := k.in(p, 0), k.in(p, 1), k.in(p, 2), k.in(p, 3), k.in(p, 4), k.out(p)
	f, count := &k.device.channels, float32(k.n*k.s)
	return func(c, images, at int) {
		scale := k.scale(statistics[k.c+c])
		if !k.training {
			f.scale(images, k.s, &dx[at], &dy[at], k.pitch(), 0, scale*w[c], 0, float32(math.Inf(-1)))
			return
		}
		level, slope := sums[c]/count, scale*sums[k.c+c]/count
		f.slopeScale(images, k.s, &dx[at], &x[at], &dy[at], k.pitch(), statistics[c], level, slope, scale*w[c])
	}
}

// batchNormSums computes Σ dy and Σ dy·x̂, one channel per chunk.
type batchNormSums struct{ channels }

func newBatchNormSums(d *Device, s ir.Step) (step, error) {
	return &batchNormSums{newChannels(d, s, s.Op.(ir.BatchNormSums).Epsilon)}, nil
}

func (k *batchNormSums) run(p *program) error {
	x, dy, statistics, y := k.in(p, 0), k.in(p, 1), k.in(p, 2), k.out(p)
	if k.empty() {
		clear(y)
		return nil
	}
	p.device.pool.each(k.c, func(c, _ int) {
		mean, scale := statistics[c], k.scale(statistics[k.c+c])
		sum, product := 0.0, 0.0
		var sums [2]float32
		k.each(c, func(at, rows, n int) {
			k.device.channels.slope(rows, n, &x[at], &dy[at], k.pitch(), mean, &sums[0])
			sum += float64(sums[0])
			product += float64(sums[1])
		})
		y[c], y[k.c+c] = float32(sum), float32(product*float64(scale))
	})
	return nil
}
