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
	x       []float32
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

func (k *channels) run(p *program, chunks int, t task) {
	k.x = elements[float32](p, k.step.In[0])
	if len(k.x) > 0 {
		p.device.pool.run(chunks, t)
	}
	k.x = nil
}

// scale returns 1/√(variance + ε).
func (k *channels) scale(variance float32) float32 {
	return float32(1 / math.Sqrt(float64(variance)+k.epsilon))
}

// batchStatistics computes mean and variance, one channel per chunk.
type batchStatistics struct {
	channels
	y []float32
}

func newBatchStatistics(d *Device, s ir.Step) (step, error) {
	return &batchStatistics{channels: newChannels(d, s, 0)}, nil
}

func (k *batchStatistics) run(p *program) error {
	k.y = elements[float32](p, k.step.Out[0])
	k.channels.run(p, k.c, k)
	k.y = nil
	return nil
}

func (k *batchStatistics) work(c, _ int) {
	count, f := float64(k.n*k.s), &k.device.channels
	mean, squares := 0.0, 0.0
	var sum float64
	k.each(c, func(at, rows, n int) {
		f.sum(rows, n, &k.x[at], k.pitch(), &sum)
		mean += sum
	})
	mean /= count
	var part float32
	k.each(c, func(at, rows, n int) {
		f.square(rows, n, &k.x[at], k.pitch(), float32(mean), &part)
		squares += float64(part)
	})
	k.y[c], k.y[k.c+c] = float32(mean), float32(squares/count)
}

// batchNorm computes (x - mean)·scale + b, or the gradient of x. A chunk is some images of
// one channel, or several channels.
type batchNorm struct {
	channels
	low                    float32
	y, statistics, dataW   []float32
	dataB, dataDY, dataSum []float32
	gradient, training     bool
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
	in := func(i int) []float32 { return elements[float32](p, k.step.In[i]) }
	k.y = elements[float32](p, k.step.Out[0])
	if k.gradient {
		k.dataDY, k.statistics, k.dataW, k.dataSum = in(1), in(2), in(3), in(4)
	} else {
		k.statistics, k.dataW, k.dataB = in(1), in(2), in(3)
	}
	k.channels.run(p, (k.n+k.per-1)/k.per*k.groups(), k)
	k.y, k.statistics, k.dataW, k.dataB, k.dataDY, k.dataSum = nil, nil, nil, nil, nil, nil
	return nil
}

// groups returns the number of groups of several channels.
func (k *channels) groups() int { return (k.c + k.several - 1) / k.several }

func (k *batchNorm) work(chunk, _ int) {
	from, first := chunk%k.groups()*k.several, chunk/k.groups()*k.per
	for c := from; c < min(from+k.several, k.c); c++ {
		k.channel(c, first)
	}
}

// channel computes some images of a channel.
func (k *batchNorm) channel(c, first int) {
	f := &k.device.channels
	rows, at := min(k.per, k.n-first), (first*k.c+c)*k.s
	mean, scale := k.statistics[c], k.scale(k.statistics[k.c+c])
	switch {
	case !k.gradient:
		f.scale(rows, k.s, &k.y[at], &k.x[at], k.pitch(), mean, scale*k.dataW[c], k.dataB[c], k.low)
	case k.training:
		count := float32(k.n * k.s)
		level, slope := k.dataSum[c]/count, scale*k.dataSum[k.c+c]/count
		f.slopeScale(rows, k.s, &k.y[at], &k.x[at], &k.dataDY[at], k.pitch(), mean, level, slope, scale*k.dataW[c])
	default:
		f.scale(rows, k.s, &k.y[at], &k.dataDY[at], k.pitch(), 0, scale*k.dataW[c], 0, float32(math.Inf(-1)))
	}
}

// batchNormSums computes Σ dy and Σ dy·x̂, one channel per chunk.
type batchNormSums struct {
	channels
	y, dy, statistics []float32
}

func newBatchNormSums(d *Device, s ir.Step) (step, error) {
	return &batchNormSums{channels: newChannels(d, s, s.Op.(ir.BatchNormSums).Epsilon)}, nil
}

func (k *batchNormSums) run(p *program) error {
	k.y, k.dy, k.statistics = elements[float32](p, k.step.Out[0]), elements[float32](p, k.step.In[1]), elements[float32](p, k.step.In[2])
	if len(k.dy) == 0 {
		clear(k.y)
	}
	k.channels.run(p, k.c, k)
	k.y, k.dy, k.statistics = nil, nil, nil
	return nil
}

func (k *batchNormSums) work(c, _ int) {
	mean, scale := k.statistics[c], k.scale(k.statistics[k.c+c])
	sum, product := 0.0, 0.0
	var sums [2]float32
	k.each(c, func(at, rows, n int) {
		k.device.channels.slope(rows, n, &k.x[at], &k.dy[at], k.pitch(), mean, &sums[0])
		sum += float64(sums[0])
		product += float64(sums[1])
	})
	k.y[c], k.y[k.c+c] = float32(sum), float32(product*float64(scale))
}
