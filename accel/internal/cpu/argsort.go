package cpu

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var _ = implement[ir.ArgSort](newArgSort)

// maxInserted is the number of elements up to which the first ones of a row are kept sorted while
// the row is read; more are found by sorting the row.
const maxInserted = 128

func newArgSort(_ *Device, s ir.Step) (step, error) {
	if s.In[0].DType == ir.Float64 {
		return argSort[float64](s), nil
	}
	return argSort[float32](s), nil
}

// argSort returns a step that sorts rows; a chunk is some rows.
func argSort[T float32 | float64](s ir.Step) stepFunc {
	op, last := s.Op.(ir.ArgSort), len(s.In[0].Shape)-1
	rows, n, _ := axes(s.In[0].Shape, last, last+1)
	return func(p *program) error {
		x, y := elements[T](p, s.In[0]), elements[int32](p, s.Out[0])
		p.device.pool.split(rows, max(1, rowsPerTask/max(n, 1)), func(row, end, _ int) {
			var all []int32
			if op.K > maxInserted {
				all = make([]int32, n)
			}
			for ; row < end; row++ {
				y, from := y[row*op.K:][:op.K], row*n
				if all == nil {
					insert(y, x, from, from+n, op.Descending)
					continue
				}
				for i := range all {
					all[i] = int32(from + i)
				}
				slices.SortStableFunc(all, func(a, b int32) int { return order(x[a], x[b], op.Descending) })
				copy(y, all)
			}
		})
		return nil
	}
}

// insert finds the first elements of the row of x that begins at from and ends at end.
func insert[T float32 | float64](y []int32, x []T, from, end int, descending bool) {
	found := y[:0]
	for i := from; i < end && len(y) > 0; i++ {
		if len(found) == len(y) {
			if order(x[i], x[found[len(found)-1]], descending) >= 0 {
				continue
			}
			found = found[:len(found)-1]
		}
		at, _ := slices.BinarySearchFunc(found, x[i], func(a int32, v T) int {
			if order(x[a], v, descending) <= 0 { // behind equal elements
				return -1
			}
			return 1
		})
		found = slices.Insert(found, at, int32(i))
	}
}

// order compares two elements; NaN is the largest.
func order[T float32 | float64](a, b T, descending bool) int {
	c := 0
	switch {
	case a < b, b != b && a == a:
		c = -1
	case a > b, a != a && b == b:
		c = 1
	}
	if descending {
		return -c
	}
	return c
}
