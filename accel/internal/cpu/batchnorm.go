package cpu

import (
	"math"

	"github.com/quernlab/quern/accel/internal/ir"
)

// channels is what the steps of batch normalisation share: x [N, C, S] with one
// mean and variance for each of the C channels.
type channels struct {
	device  *Device
	step    ir.Step
	n, c, s int
	epsilon float64
	x       []float32
}

func newChannels(d *Device, s ir.Step, epsilon float64) channels {
	shape := s.In[0].Shape
	return channels{device: d, step: s, n: shape[0], c: shape[1], s: ir.Len(shape[2:]), epsilon: epsilon}
}

// channelPart is how many neighbours are worked on together.
const channelPart = 1024

// each calls f with runs of neighbours of one channel, of at most channelPart.
func (k *channels) each(c int, f func(from, to int)) {
	for i := range k.n {
		at := (i*k.c + c) * k.s
		for j := 0; j < k.s; j += channelPart {
			f(at+j, at+min(j+channelPart, k.s))
		}
	}
}

func (k *channels) run(p *program, chunks int, t task) {
	k.x = elements[float32](p, k.step.In[0])
	p.device.pool.run(chunks, t)
	k.x = nil
}

// scale is 1/√(variance + ε).
func (k *channels) scale(variance float32) float32 {
	return float32(1 / math.Sqrt(float64(variance)+k.epsilon))
}

// batchStatistics is mean and variance, one chunk a channel.
type batchStatistics struct {
	channels
	y []float32
}

func newBatchStatistics(d *Device, s ir.Step) (step, error) {
	d.reserve(0, channelPart)
	return &batchStatistics{channels: newChannels(d, s, 0)}, nil
}

func (k *batchStatistics) run(p *program) error {
	k.y = elements[float32](p, k.step.Out[0])
	k.channels.run(p, k.c, k)
	k.y = nil
	return nil
}

func (k *batchStatistics) work(c, worker int) {
	v := k.device.vectors
	scratch := k.device.scratch[worker]
	count := float64(k.n * k.s)
	mean := 0.0
	k.each(c, func(from, to int) { mean += float64(v.sum(k.x[from:to])) })
	mean /= count
	squares := 0.0
	k.each(c, func(from, to int) {
		d := scratch[:to-from]
		v.addScalar(d, k.x[from:to], float32(-mean))
		v.mul(d, d, d)
		squares += float64(v.sum(d))
	})
	k.y[c], k.y[k.c+c] = float32(mean), float32(squares/count)
}

// batchNorm is (x - mean)·scale + b, one chunk some runs.
type batchNorm struct {
	channels
	low                    float32
	per                    int // channels of one image in a chunk
	y, statistics, dataW   []float32
	dataB, dataDY, dataSum []float32
	gradient, training     bool
}

func newBatchNorm(d *Device, s ir.Step) (step, error) {
	k := &batchNorm{channels: newChannels(d, s, s.Op.(ir.BatchNorm).Epsilon), low: float32(math.Inf(-1))}
	if s.Epilogue != nil {
		k.low = 0
	}
	k.per = max(1, moveLen/max(1, k.s))
	return k, nil
}

func newBatchNormInput(d *Device, s ir.Step) (step, error) {
	op := s.Op.(ir.BatchNormInputGradient)
	k := &batchNorm{channels: newChannels(d, s, op.Epsilon), gradient: true, training: op.Training}
	k.per = max(1, moveLen/max(1, k.s))
	d.reserve(0, channelPart)
	return k, nil
}

func (k *batchNorm) run(p *program) error {
	in := func(i int) []float32 { return elements[float32](p, k.step.In[i]) }
	k.y = elements[float32](p, k.step.Out[0])
	if k.gradient {
		k.dataDY, k.statistics, k.dataW, k.dataSum = in(1), in(2), in(3), in(4)
	} else {
		k.statistics, k.dataW, k.dataB = in(1), in(2), in(3)
	}
	k.channels.run(p, (k.n*k.c+k.per-1)/k.per, k)
	k.y, k.statistics, k.dataW, k.dataB, k.dataDY, k.dataSum = nil, nil, nil, nil, nil, nil
	return nil
}

func (k *batchNorm) work(chunk, worker int) {
	for i := chunk * k.per; i < min((chunk+1)*k.per, k.n*k.c); i++ {
		c := i % k.c
		mean, scale := k.statistics[c], k.scale(k.statistics[k.c+c])
		for j := 0; j < k.s; j += channelPart {
			from, to := i*k.s+j, i*k.s+min(j+channelPart, k.s)
			if k.gradient {
				k.backward(c, mean, scale, from, to, k.device.scratch[worker])
				continue
			}
			v, x, y := k.device.vectors, k.x[from:to], k.y[from:to]
			v.addScalar(y, x, -mean)
			v.mulScalar(y, y, scale*k.dataW[c])
			k.device.shift.biasRows(1, to-from, &y[0], 0, &y[0], 0, k.dataB[c], k.low)
		}
	}
}

func (k *batchNorm) backward(c int, mean, scale float32, from, to int, scratch []float32) {
	v, y, dy := k.device.vectors, k.y[from:to], k.dataDY[from:to]
	if !k.training {
		v.mulScalar(y, dy, scale*k.dataW[c])
		return
	}
	count := float32(k.n * k.s)
	hat := scratch[:to-from]
	v.addScalar(hat, k.x[from:to], -mean)
	v.mulScalar(hat, hat, scale*k.dataSum[k.c+c]/count)
	v.addScalar(y, dy, -k.dataSum[c]/count)
	v.sub(y, y, hat)
	v.mulScalar(y, y, scale*k.dataW[c])
}

// batchNormSums is Σ dy and Σ dy·x̂, one chunk a channel.
type batchNormSums struct {
	channels
	y, dy, statistics []float32
}

func newBatchNormSums(d *Device, s ir.Step) (step, error) {
	d.reserve(0, channelPart)
	return &batchNormSums{channels: newChannels(d, s, s.Op.(ir.BatchNormSums).Epsilon)}, nil
}

func (k *batchNormSums) run(p *program) error {
	k.y, k.dy, k.statistics = elements[float32](p, k.step.Out[0]), elements[float32](p, k.step.In[1]), elements[float32](p, k.step.In[2])
	k.channels.run(p, k.c, k)
	k.y, k.dy, k.statistics = nil, nil, nil
	return nil
}

func (k *batchNormSums) work(c, worker int) {
	v := k.device.vectors
	scratch := k.device.scratch[worker]
	mean, scale := k.statistics[c], k.scale(k.statistics[k.c+c])
	sum, product := 0.0, 0.0
	k.each(c, func(from, to int) {
		d := scratch[:to-from]
		v.addScalar(d, k.x[from:to], -mean)
		v.mul(d, d, k.dy[from:to])
		product += float64(v.sum(d))
		sum += float64(v.sum(k.dy[from:to]))
	})
	k.y[c], k.y[k.c+c] = float32(sum), float32(product*float64(scale))
}
