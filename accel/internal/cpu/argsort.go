package cpu

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var _ = implement[ir.ArgSort](newArgSort)

// maxInserted is the number of elements up to which the first ones of a row are kept sorted while
// the row is read; more are found by sorting the row.
const maxInserted = 128

// argSort sorts rows; a chunk is some rows.
type argSort[T float32 | float64] struct {
	in, out ir.Operand
	op      ir.ArgSort
	rows, n int
	per     int // rows per chunk
}

func newArgSort(_ *Device, s ir.Step) (step, error) {
	if s.In[0].DType == ir.Float64 {
		return argSortOf[float64](s), nil
	}
	return argSortOf[float32](s), nil
}

func argSortOf[T float32 | float64](s ir.Step) *argSort[T] {
	k := &argSort[T]{in: s.In[0], out: s.Out[0], op: s.Op.(ir.ArgSort)}
	last := len(s.In[0].Shape) - 1
	k.rows, k.n, _ = axes(s.In[0].Shape, last, last+1)
	k.per = max(1, rowsPerTask/max(k.n, 1))
	return k
}

func (k *argSort[T]) run(p *program) error {
	x, y := elements[T](p, k.in), elements[int32](p, k.out)
	p.device.pool.split(k.rows, k.per, func(row, end, _ int) {
		var all []int32
		if k.op.K > maxInserted {
			all = make([]int32, k.n)
		}
		for ; row < end; row++ {
			y, from := y[row*k.op.K:][:k.op.K], row*k.n
			if all == nil {
				k.insert(y, x, from)
				continue
			}
			for i := range all {
				all[i] = int32(from + i)
			}
			slices.SortStableFunc(all, func(a, b int32) int { return k.order(x[a], x[b]) })
			copy(y, all)
		}
	})
	return nil
}

// insert finds the first elements of the row of x that begins at from.
func (k *argSort[T]) insert(y []int32, x []T, from int) {
	found := y[:0]
	for i := from; i < from+k.n && len(y) > 0; i++ {
		if len(found) == len(y) {
			if k.order(x[i], x[found[len(found)-1]]) >= 0 {
				continue
			}
			found = found[:len(found)-1]
		}
		at, _ := slices.BinarySearchFunc(found, x[i], func(a int32, v T) int {
			if k.order(x[a], v) <= 0 { // behind equal elements
				return -1
			}
			return 1
		})
		found = slices.Insert(found, at, int32(i))
	}
}

// order compares two elements; NaN is the largest.
func (k *argSort[T]) order(a, b T) int {
	c := 0
	switch {
	case a < b, b != b && a == a:
		c = -1
	case a > b, a != a && b == b:
		c = 1
	}
	if k.op.Descending {
		return -c
	}
	return c
}
