package cpu

import "github.com/quernlab/quern/accel/internal/engine/ir"

var _ = implement[ir.ArgMax](newLargest)
var _ = implement[ir.Max](newLargest)
var _ = implement[ir.Sum](newSum)

// A sum is split into blocks of fixed size, so the order of additions depends on the shape
// alone and not on the number of threads. Additions are in float64, in which a sum of up to 2²⁹
// equal float32 is exact, so that their mean is the number. In long rows and wide tables, four or
// eight elements are added in float32 before, as a tree: that is exact for equal numbers, too, and
// else an error of at most 3·2⁻²⁴·Σ|x|.
const (
	exactSum    = 1024    // elements of a row up to which it is summed only in float64
	vectorLen   = 32      // elements from which vector functions are faster
	sumBlock    = 8192    // elements of a row that one chunk sums
	sumRows     = 64      // rows of a column sum that are added at once
	sumColumns  = 256     // columns of a column sum that are added at once
	columnWidth = 512     // maximum columns of a column sum per chunk
	columnBlock = 1 << 17 // approximate elements of a column sum per chunk
	rowsPerTask = 8192    // approximate elements of short rows per chunk
)

// axes splits a shape around a reduction: [outer, n, inner].
func axes(shape []int, from, to int) (outer, n, inner int) {
	return ir.Len(shape[:from]), ir.Len(shape[from:to]), ir.Len(shape[to:])
}

// sum sums over the middle dimension of [outer, n, inner], or computes the means.
type sum struct {
	device          *Device
	in, out         ir.Operand
	mean            bool
	outer, n, inner int
	blocks          int       // blocks of a single long row, or of the rows of a column sum
	tiles           int       // blocks of columns
	rows            int       // rows per chunk: short rows, or those of a column sum
	partial         []float64 // sums of the blocks, if there are several
	buffers         []float64 // of sumColumns, one for each worker
}

func newSum(d *Device, s ir.Step) (step, error) {
	op := s.Op.(ir.Sum)
	if s.Out[0].DType == ir.Float64 {
		return float64Sum(s, op), nil
	}
	k := &sum{device: d, in: s.In[0], out: s.Out[0], mean: op.Mean}
	k.outer, k.n, k.inner = axes(s.In[0].Shape, op.From, op.To)
	k.blocks = (k.n + sumBlock - 1) / sumBlock
	k.rows = max(1, rowsPerTask/max(k.n, 1))
	if k.inner > 1 {
		k.tiles = (k.inner + columnWidth - 1) / columnWidth
		k.rows = roundUp(columnBlock/min(k.inner, columnWidth), sumRows)
		k.blocks = max(1, (k.n+k.rows-1)/k.rows)
		k.buffers = make([]float64, d.pool.size*sumColumns)
	}
	if k.blocks > 1 {
		k.partial = make([]float64, k.outer*k.blocks*k.inner)
	}
	return k, nil
}

func (k *sum) run(p *program) error {
	x, y := elements[float32](p, k.in), elements[float32](p, k.out)
	switch {
	case len(y) == 0:
	case k.inner > 1:
		p.device.pool.each(k.outer*k.blocks*k.tiles, func(chunk, worker int) {
			from := chunk % k.tiles * columnWidth
			for to := min(from+columnWidth, k.inner); from < to; from += sumColumns {
				k.columns(x, y, chunk/k.tiles, from, min(from+sumColumns, to), k.buffers[worker*sumColumns:])
			}
		})
	case k.blocks > 1:
		p.device.pool.each(k.outer*k.blocks, func(chunk, _ int) {
			row, b := chunk/k.blocks, chunk%k.blocks
			x := x[row*k.n : (row+1)*k.n]
			k.partial[chunk] = k.device.vectors.sumFours(x[b*sumBlock : min((b+1)*sumBlock, k.n)])
		})
	default:
		p.device.pool.split(k.outer, k.rows, func(i, end, _ int) {
			for ; i < end; i++ {
				y[i] = k.row(x[i*k.n : (i+1)*k.n])
			}
		})
	}
	if k.blocks > 1 {
		for o := range k.outer {
			k.finish(y[o*k.inner:][:k.inner], k.partial[o*k.blocks*k.inner:][:k.blocks*k.inner])
		}
	}
	return nil
}

// row sums a short row.
func (k *sum) row(x []float32) float32 {
	sum := 0.0
	switch {
	case k.n < vectorLen:
		sum = sumGeneric(x)
	case k.n <= exactSum:
		sum = k.device.vectors.sum(x)
	default:
		sum = k.device.vectors.sumFours(x)
	}
	if k.mean {
		sum /= float64(k.n)
	}
	return float32(sum)
}

// finish adds the sums of the blocks.
func (k *sum) finish(y []float32, blocks []float64) {
	all := blocks[:len(y)]
	for rest := blocks[len(y):]; len(rest) > 0; rest = rest[len(y):] {
		for i, v := range rest[:len(all)] {
			all[i] += v
		}
	}
	k.store(y, all)
}

// store rounds sums, or the means.
func (k *sum) store(y []float32, sums []float64) {
	if k.mean {
		for i, v := range sums {
			y[i] = float32(v / float64(k.n))
		}
		return
	}
	for i, v := range sums {
		y[i] = float32(v)
	}
}

// columns adds the rows of a block from one column to another.
func (k *sum) columns(x, y []float32, block, from, to int, buffer []float64) {
	sums := buffer[:to-from]
	clear(sums)
	outer, first := block/k.blocks, block%k.blocks*k.rows
	last := min(first+k.rows, k.n)
	for r := first; r < last; r += sumRows {
		k.device.vectors.addRows(sums, x[(outer*k.n+r)*k.inner+from:], min(sumRows, last-r), k.inner)
	}
	if k.blocks > 1 {
		copy(k.partial[block*k.inner+from:], sums)
		return
	}
	k.store(y[block*k.inner+from:], sums)
}

func newLargest(_ *Device, s ir.Step) (step, error) {
	axis := 0
	switch op := s.Op.(type) {
	case ir.Max:
		axis = op.Axis
	case ir.ArgMax:
		axis = op.Axis
	}
	if s.In[0].DType == ir.Float64 {
		return largest[float64](s, axis), nil
	}
	return largest[float32](s, axis), nil
}

// largest returns a step that finds the largest element of the middle dimension of [outer, n, inner], the first of equal ones, or its index.
func largest[T float32 | float64](s ir.Step, axis int) stepFunc {
	outer, n, inner := axes(s.In[0].Shape, axis, axis+1)
	out := s.Out[0]
	return func(p *program) error {
		x := elements[T](p, s.In[0])
		var y []T
		var index []int32
		if out.DType == ir.Int32 {
			index = elements[int32](p, out)
		} else {
			y = elements[T](p, out)
		}
		p.device.pool.split(outer*inner, max(1, rowsPerTask/max(n, 1)), func(i, end, _ int) {
			for ; i < end; i++ {
				best, at := firstLargest(x[i/inner*n*inner+i%inner:], n, inner)
				if index != nil {
					index[i] = int32(at)
				} else {
					y[i] = best
				}
			}
		})
		return nil
	}
}

// firstLargest finds the largest of n elements of x that are inner apart, or the first NaN.
func firstLargest[T float32 | float64](x []T, n, inner int) (best T, at int) {
	best = x[0]
	for j := 1; j < n && best == best; j++ {
		if v := x[j*inner]; v > best || v != v {
			best, at = v, j
		}
	}
	return best, at
}
