package cpu

import (
	"math"

	"github.com/quernlab/quern/accel/internal/ir"
)

// norm is LayerNorm or RMSNorm of rows, or the gradient of their input.
type norm struct {
	device    *Device
	in, w     ir.Operand
	b, dy     ir.Operand // b of the op, dy of the gradient
	out       ir.Operand
	centred   bool // LayerNorm
	gradient  bool
	epsilon   float64
	n, rows   int
	per       int // rows in one chunk
	x, y      []float32
	dataW     []float32
	dataOther []float32 // of b, or of dy
}

func newNorm(d *Device, s ir.Step) (step, error) {
	k := &norm{device: d, in: s.In[0], out: s.Out[0]}
	switch op := s.Op.(type) {
	case ir.LayerNorm:
		k.centred, k.epsilon, k.w, k.b = true, op.Epsilon, s.In[1], s.In[2]
	case ir.RMSNorm:
		k.epsilon, k.w = op.Epsilon, s.In[1]
	case ir.LayerNormInputGradient:
		k.centred, k.gradient, k.epsilon, k.dy, k.w = true, true, op.Epsilon, s.In[1], s.In[2]
	case ir.RMSNormInputGradient:
		k.gradient, k.epsilon, k.dy, k.w = true, op.Epsilon, s.In[1], s.In[2]
	}
	k.size(s.In[0].Shape)
	d.reserve(0, 2*k.n)
	return k, nil
}

func (k *norm) size(shape []int) {
	last := len(shape) - 1
	k.n, k.rows = shape[last], ir.Len(shape[:last])
	k.per = max(1, rowsPerTask/max(k.n, 1))
}

func (k *norm) run(p *program) error {
	k.x, k.y, k.dataW = elements[float32](p, k.in), elements[float32](p, k.out), elements[float32](p, k.w)
	switch {
	case k.gradient:
		k.dataOther = elements[float32](p, k.dy)
	case k.centred:
		k.dataOther = elements[float32](p, k.b)
	}
	if k.n > 0 {
		p.device.pool.run((k.rows+k.per-1)/k.per, k)
	}
	k.x, k.y, k.dataW, k.dataOther = nil, nil, nil, nil
	return nil
}

func (k *norm) work(chunk, worker int) {
	v := k.device.vectors
	scratch := k.device.scratch[worker]
	hat, g := scratch[:k.n], scratch[k.n:2*k.n]
	for i := chunk * k.per; i < min((chunk+1)*k.per, k.rows); i++ {
		x, y := k.x[i*k.n:(i+1)*k.n], k.y[i*k.n:(i+1)*k.n]
		if !k.gradient {
			k.normalise(y, x, g)
			v.mul(y, y, k.dataW)
			if k.centred {
				v.add(y, y, k.dataOther)
			}
			continue
		}
		scale := k.normalise(hat, x, g)
		v.mul(y, k.dataOther[i*k.n:(i+1)*k.n], k.dataW)
		v.mul(g, y, hat)
		slope := v.sum(g) / float32(k.n)
		if k.centred {
			v.addScalar(y, y, -v.sum(y)/float32(k.n))
		}
		v.mulScalar(hat, hat, slope)
		v.sub(y, y, hat)
		v.mulScalar(y, y, scale)
	}
}

// normalise writes (x - mean)·scale to y and returns the scale; spare is used.
func (k *norm) normalise(y, x, spare []float32) float32 {
	v := k.device.vectors
	n := float64(len(x))
	from := x
	if k.centred {
		v.addScalar(y, x, float32(-float64(v.sum(x))/n))
		from = y
	}
	v.mul(spare, from, from)
	scale := float32(1 / math.Sqrt(float64(v.sum(spare))/n+k.epsilon))
	v.mulScalar(y, from, scale)
	return scale
}

// normWeight is Σ dy·x̂ and, for LayerNorm, Σ dy over the rows. The rows are cut
// into blocks by their number alone, and the blocks' sums added in order.
type normWeight struct {
	norm
	blocks  int
	partial []float32
}

// normBlocks bounds the blocks of rows.
const normBlocks = 32

func newNormWeight(d *Device, s ir.Step) (step, error) {
	k := &normWeight{norm: norm{device: d, in: s.In[0], dy: s.In[1], out: s.Out[0]}}
	switch op := s.Op.(type) {
	case ir.LayerNormWeightGradient:
		k.centred, k.epsilon = true, op.Epsilon
	case ir.RMSNormWeightGradient:
		k.epsilon = op.Epsilon
	}
	k.size(s.In[0].Shape)
	k.per = max(k.per, (k.rows+normBlocks-1)/normBlocks)
	k.blocks = (k.rows + k.per - 1) / k.per
	k.partial = make([]float32, k.blocks*2*k.n)
	d.reserve(0, 2*k.n)
	return k, nil
}

func (k *normWeight) run(p *program) error {
	k.x, k.y, k.dataOther = elements[float32](p, k.in), elements[float32](p, k.out), elements[float32](p, k.dy)
	clear(k.y)
	if k.n > 0 {
		p.device.pool.run(k.blocks, k)
		for b := range k.blocks {
			k.device.vectors.add(k.y, k.y, k.partial[b*2*k.n:][:len(k.y)])
		}
	}
	k.x, k.y, k.dataOther = nil, nil, nil
	return nil
}

func (k *normWeight) work(chunk, worker int) {
	v := k.device.vectors
	scratch := k.device.scratch[worker]
	hat, spare := scratch[:k.n], scratch[k.n:2*k.n]
	dw, db := k.partial[chunk*2*k.n:][:k.n], k.partial[(chunk*2+1)*k.n:][:k.n]
	clear(dw)
	clear(db)
	for i := chunk * k.per; i < min((chunk+1)*k.per, k.rows); i++ {
		dy := k.dataOther[i*k.n : (i+1)*k.n]
		k.normalise(hat, k.x[i*k.n:(i+1)*k.n], spare)
		v.mul(hat, hat, dy)
		v.add(dw, dw, hat)
		if k.centred {
			v.add(db, db, dy)
		}
	}
}
