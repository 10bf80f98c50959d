package cpu

import "github.com/quernlab/quern/accel/internal/engine/ir"

var _ = implement[ir.CumSum](newCumSum)
var _ = implement[ir.OneHot](newOneHot)

// cumSum computes sums along the middle dimension of [outer, n, inner], in float64. A chunk is some lines, which are
// next to each other.
type cumSum[T float32 | float64] struct {
	in, out         ir.Operand
	outer, n, inner int
	reverse         bool
	per             int // lines per chunk
}

func newCumSum(_ *Device, s ir.Step) (step, error) {
	if s.Out[0].DType == ir.Float64 {
		return cumSumOf[float64](s), nil
	}
	return cumSumOf[float32](s), nil
}

func cumSumOf[T float32 | float64](s ir.Step) step {
	op := s.Op.(ir.CumSum)
	k := &cumSum[T]{in: s.In[0], out: s.Out[0], reverse: op.Reverse}
	k.outer, k.n, k.inner = axes(s.In[0].Shape, op.Axis, op.Axis+1)
	k.per = max(1, rowsPerTask/max(k.n, 1))
	if k.inner > 1 {
		k.per = min(max(k.per, cumSumLines), k.inner)
	}
	return k
}

// cumSumLines is the number of lines that are summed together if their elements are next to each other.
const cumSumLines = 64

func (k *cumSum[T]) run(p *program) error {
	x, y := elements[T](p, k.in), elements[T](p, k.out)
	p.device.pool.split(k.outer*k.inner, k.per, func(i, end, _ int) {
		for i < end {
			o, c := i/k.inner, i%k.inner
			width := min(cumSumLines, k.inner-c, end-i)
			at := o*k.n*k.inner + c
			k.lines(x[at:], y[at:], width)
			i += width
		}
	})
	return nil
}

// lines computes some lines, which begin with the first elements of x and y.
func (k *cumSum[T]) lines(x, y []T, width int) {
	var totals [cumSumLines]float64
	for j := range k.n {
		if k.reverse {
			j = k.n - 1 - j
		}
		to := y[j*k.inner:][:width]
		for c, v := range x[j*k.inner:][:width] {
			totals[c] += float64(v)
			to[c] = T(totals[c])
		}
	}
}

// oneHot writes a 1 for each index.
type oneHot struct {
	in, out ir.Operand
	classes int
}

func newOneHot(_ *Device, s ir.Step) (step, error) {
	return &oneHot{in: s.In[0], out: s.Out[0], classes: s.Op.(ir.OneHot).Classes}, nil
}

func (k *oneHot) run(p *program) error {
	index, y := elements[int32](p, k.in), elements[float32](p, k.out)
	if err := checkIndices("OneHot", index, k.classes); err != nil {
		return err
	}
	clear(y)
	for i, j := range index {
		y[i*k.classes+int(j)] = 1
	}
	return nil
}
