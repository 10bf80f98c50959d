package cpu

import (
	"math"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var _ = implementFloat32[ir.LayerNorm](newNorm)
var _ = implementFloat32[ir.LayerNormInputGradient](newNorm)
var _ = implementFloat32[ir.LayerNormWeightGradient](newNormWeight)
var _ = implementFloat32[ir.RMSNorm](newNorm)
var _ = implementFloat32[ir.RMSNormInputGradient](newNorm)
var _ = implementFloat32[ir.RMSNormWeightGradient](newNormWeight)

// norm is LayerNorm or RMSNorm of rows, or the gradient of its input.
type norm struct {
	device   *Device
	in, w    ir.Operand
	b, dy    ir.Operand // b for the op, dy for the gradient
	out      ir.Operand
	centered bool // LayerNorm, not RMSNorm
	gradient bool
	epsilon  float64
	n, rows  int
	per      int       // rows per chunk
	some     int       // rows at once, which stay in the L1 cache
	zeros    []float32 // in place of a b
}

func newNorm(d *Device, s ir.Step) (step, error) {
	k := &norm{device: d, in: s.In[0], out: s.Out[0]}
	switch op := s.Op.(type) {
	case ir.LayerNorm:
		k.centered, k.epsilon, k.w, k.b = true, op.Epsilon, s.In[1], s.In[2]
	case ir.RMSNorm:
		k.epsilon, k.w = op.Epsilon, s.In[1]
	case ir.LayerNormInputGradient:
		k.centered, k.gradient, k.epsilon, k.dy, k.w = true, true, op.Epsilon, s.In[1], s.In[2]
	case ir.RMSNormInputGradient:
		k.gradient, k.epsilon, k.dy, k.w = true, op.Epsilon, s.In[1], s.In[2]
	}
	k.size(s.In[0].Shape)
	if !k.centered && !k.gradient {
		k.zeros = make([]float32, k.n)
	}
	return k, nil
}

func (k *norm) size(shape []int) {
	last := len(shape) - 1
	k.n, k.rows = shape[last], ir.Len(shape[:last])
	k.per = max(1, rowsPerTask/max(k.n, 1))
	k.some = min(rowsAtOnce, max(1, 2*normBlock/max(k.n, 1)))
}

func (k *norm) run(p *program) error {
	if k.n == 0 {
		return nil
	}
	x, y, w, b := elements[float32](p, k.in), elements[float32](p, k.out), elements[float32](p, k.w), k.zeros
	var dy []float32
	switch {
	case k.gradient:
		dy = elements[float32](p, k.dy)
	case k.centered:
		b = elements[float32](p, k.b)
	}
	p.device.pool.split(k.rows, k.per, func(i, end, _ int) {
		var m rowMoments
		for ; i < end; i += k.some {
			rows := min(k.some, end-i)
			k.moments(&m, x, i, rows)
			if k.gradient {
				k.inputGradient(&m, y, x, dy, w, i, rows)
				continue
			}
			for r := range rows {
				k.device.vectors.normalize(k.row(y, i+r), k.row(x, i+r), w, b, m.shift[r], m.scale[r])
			}
		}
	})
	return nil
}

func (k *norm) row(all []float32, i int) []float32 { return all[i*k.n:][:k.n] }

// inputGradient computes the gradient of some rows, starting at i.
func (k *norm) inputGradient(m *rowMoments, dx, x, dy, w []float32, i, rows int) {
	v, n := k.device.vectors, float64(k.n)
	var means, slopes [rowsAtOnce]float32
	for r := range rows {
		x, dy := k.row(x, i+r), k.row(dy, i+r)
		sum, dot := 0.0, 0.0
		for at := 0; at < k.n; at += normBlock {
			to := min(at+normBlock, k.n)
			s, d := v.slopes(x[at:to], dy[at:to], w[at:to], m.shift[r])
			sum, dot = sum+float64(s), dot+float64(d)
		}
		if k.centered {
			means[r] = float32(sum / n)
		}
		slopes[r] = m.scale[r] * m.scale[r] * float32(dot/n)
	}
	for r := range rows {
		v.normGradient(k.row(dx, i+r), k.row(x, i+r), k.row(dy, i+r), w, m.shift[r], slopes[r], means[r], m.scale[r])
	}
}

// rowsAtOnce is the largest number of rows whose sums are computed before what depends on them, so that a CPU does not wait for the end of
// one sum before it begins the next one.
const rowsAtOnce = 8

// rowMoments are what is added to rows, and the factors that they are then multiplied with.
type rowMoments struct{ shift, scale [rowsAtOnce]float32 }

// moments computes those of some rows of x, starting at i.
func (k *norm) moments(m *rowMoments, x []float32, i, rows int) {
	v, n := k.device.vectors, float64(k.n)
	for r := range rows {
		if m.shift[r] = 0; k.centered {
			m.shift[r] = float32(-v.sumFours(k.row(x, i+r)) / n)
		}
	}
	var squares [rowsAtOnce]float64
	for r := range rows {
		for x := k.row(x, i+r); len(x) > 0; x = x[min(normBlock, len(x)):] {
			squares[r] += float64(v.squares(x[:min(normBlock, len(x))], m.shift[r]))
		}
	}
	for r := range rows {
		m.scale[r] = float32(1 / math.Sqrt(squares[r]/n+k.epsilon))
	}
}

// normBlock is the number of elements of a row, or of rows, whose sum is in float32.
const normBlock = 1024

// normWeight computes Σ dy·x̂ and, for LayerNorm, Σ dy over the rows. The rows are split
// into blocks depending on their number alone, and the sums of the blocks are added in
// order.
type normWeight struct {
	norm
	blocks  int
	partial []float64 // sums of the blocks
	scratch []float32 // sums of normBlock rows, one for each block
}

// normBlocks is the maximum number of blocks of rows.
const normBlocks = 32

func newNormWeight(d *Device, s ir.Step) (step, error) {
	k := &normWeight{norm: norm{device: d, in: s.In[0], dy: s.In[1], out: s.Out[0]}}
	switch op := s.Op.(type) {
	case ir.LayerNormWeightGradient:
		k.centered, k.epsilon = true, op.Epsilon
	case ir.RMSNormWeightGradient:
		k.epsilon = op.Epsilon
	}
	k.size(s.In[0].Shape)
	k.per = max(k.per, (k.rows+normBlocks-1)/normBlocks)
	k.blocks = (k.rows + k.per - 1) / k.per
	k.partial, k.scratch = make([]float64, k.blocks*2*k.n), make([]float32, k.blocks*2*k.n)
	return k, nil
}

func (k *normWeight) run(p *program) error {
	x, y, dy := elements[float32](p, k.in), elements[float32](p, k.out), elements[float32](p, k.dy)
	clear(y)
	if k.n == 0 || k.blocks == 0 {
		return nil
	}
	p.device.pool.split(k.rows, k.per, func(i, last, _ int) {
		var m rowMoments
		block := i / k.per
		all, sums := k.partial[block*2*k.n:][:2*k.n], k.scratch[block*2*k.n:][:2*k.n]
		clear(all)
		for i < last {
			clear(sums)
			for end := min(i+normBlock, last); i < end; {
				rows := min(k.some, end-i)
				k.moments(&m, x, i, rows)
				for r := range rows {
					k.device.vectors.normWeights(sums[:k.n], sums[k.n:], k.row(x, i+r), k.row(dy, i+r), m.shift[r], m.scale[r])
				}
				i += rows
			}
			for j, v := range sums {
				all[j] += float64(v)
			}
		}
	})
	all := k.partial[:len(y)]
	for b := 1; b < k.blocks; b++ {
		for i, v := range k.partial[b*2*k.n:][:len(all)] {
			all[i] += v
		}
	}
	for i, v := range all {
		y[i] = float32(v)
	}
	return nil
}
