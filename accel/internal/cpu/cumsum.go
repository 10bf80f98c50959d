package cpu

import "github.com/quernlab/quern/accel/internal/engine/ir"

var _ = implement[ir.CumSum](newCumSum)
var _ = implement[ir.OneHot](newOneHot)

func newCumSum(_ *Device, s ir.Step) (step, error) {
	if s.Out[0].DType == ir.Float64 {
		return cumSum[float64](s), nil
	}
	return cumSum[float32](s), nil
}

// cumSumLines is the number of lines that are summed together if their elements are next to each other.
const cumSumLines = 64

// cumSum returns a step that computes sums along the middle dimension of [outer, n, inner], in float64. A chunk is some lines, which are
// next to each other.
func cumSum[T float32 | float64](s ir.Step) stepFunc {
	op := s.Op.(ir.CumSum)
	outer, n, inner := axes(s.In[0].Shape, op.Axis, op.Axis+1)
	per := max(1, rowsPerTask/max(n, 1))
	if inner > 1 {
		per = min(max(per, cumSumLines), inner)
	}
	return func(p *program) error {
		x, y := elements[T](p, s.In[0]), elements[T](p, s.Out[0])
		p.device.pool.split(outer*inner, per, func(i, end, _ int) {
			for i < end {
				o, c := i/inner, i%inner
				width := min(cumSumLines, inner-c, end-i)
				at := o*n*inner + c
				sumLines(y[at:], x[at:], n, inner, width, op.Reverse)
				i += width
			}
		})
		return nil
	}
}

// sumLines computes some lines of n elements, which are inner apart and begin with the first elements of x and y.
func sumLines[T float32 | float64](y, x []T, n, inner, width int, reverse bool) {
	var totals [cumSumLines]float64
	for j := range n {
		if reverse {
			j = n - 1 - j
		}
		to := y[j*inner:][:width]
		for c, v := range x[j*inner:][:width] {
			totals[c] += float64(v)
			to[c] = T(totals[c])
		}
	}
}

// newOneHot returns a step that writes a 1 for each index.
func newOneHot(_ *Device, s ir.Step) (step, error) {
	classes := s.Op.(ir.OneHot).Classes
	return stepFunc(func(p *program) error {
		index, y := elements[int32](p, s.In[0]), elements[float32](p, s.Out[0])
		if err := checkIndices("OneHot", index, classes); err != nil {
			return err
		}
		clear(y)
		for i, j := range index {
			y[i*classes+int(j)] = 1
		}
		return nil
	}), nil
}
