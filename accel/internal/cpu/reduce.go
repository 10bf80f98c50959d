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
	blocks          int // blocks of a single long row, or of the rows of a column sum
	tiles           int // blocks of columns
	rows            int // rows per chunk: short rows, or those of a column sum
	x, y            []float32
	partial         []float64 // sums of the blocks, if there are several
}

func newSum(d *Device, s ir.Step) (step, error) {
	op := s.Op.(ir.Sum)
	if s.Out[0].DType == ir.Float64 {
		line := sumLine
		if op.Mean {
			line = meanLine
		}
		return newFloat64Lines(s, op.From, op.To, 1, line), nil
	}
	k := &sum{device: d, in: s.In[0], out: s.Out[0], mean: op.Mean}
	k.outer, k.n, k.inner = axes(s.In[0].Shape, op.From, op.To)
	k.blocks = (k.n + sumBlock - 1) / sumBlock
	k.rows = max(1, rowsPerTask/max(k.n, 1))
	if k.inner > 1 {
		k.tiles = (k.inner + columnWidth - 1) / columnWidth
		k.rows = roundUp(columnBlock/min(k.inner, columnWidth), sumRows)
		k.blocks = max(1, (k.n+k.rows-1)/k.rows)
	}
	if k.blocks > 1 {
		k.partial = make([]float64, k.outer*k.blocks*k.inner)
	}
	return k, nil
}

func (k *sum) run(p *program) error {
	k.x, k.y = elements[float32](p, k.in), elements[float32](p, k.out)
	switch {
	case len(k.y) == 0:
	case k.inner > 1:
		p.device.pool.run(k.outer*k.blocks*k.tiles, k)
	case k.blocks > 1:
		p.device.pool.run(k.outer*k.blocks, k)
	default:
		p.device.pool.run((k.outer+k.rows-1)/k.rows, k)
	}
	if k.blocks > 1 {
		for o := range k.outer {
			k.finish(k.y[o*k.inner:][:k.inner], k.partial[o*k.blocks*k.inner:][:k.blocks*k.inner])
		}
	}
	k.x, k.y = nil, nil
	return nil
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

func (k *sum) work(chunk, _ int) {
	switch {
	case k.inner > 1:
		from := chunk % k.tiles * columnWidth
		for to := min(from+columnWidth, k.inner); from < to; from += sumColumns {
			k.columns(chunk/k.tiles, from, min(from+sumColumns, to))
		}
	case k.blocks > 1:
		row, b := chunk/k.blocks, chunk%k.blocks
		x := k.x[row*k.n : (row+1)*k.n]
		k.partial[chunk] = k.device.vectors.sumFours(x[b*sumBlock : min((b+1)*sumBlock, k.n)])
	default:
		for i := chunk * k.rows; i < min((chunk+1)*k.rows, k.outer); i++ {
			x := k.x[i*k.n : (i+1)*k.n]
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
			k.y[i] = float32(sum)
		}
	}
}

// columns adds the rows of a block from one column to another.
func (k *sum) columns(block, from, to int) {
	var buffer [sumColumns]float64
	sums := buffer[:to-from]
	outer, first := block/k.blocks, block%k.blocks*k.rows
	last := min(first+k.rows, k.n)
	for r := first; r < last; r += sumRows {
		k.device.vectors.addRows(sums, k.x[(outer*k.n+r)*k.inner+from:], min(sumRows, last-r), k.inner)
	}
	if k.blocks > 1 {
		copy(k.partial[block*k.inner+from:], sums)
		return
	}
	k.store(k.y[block*k.inner+from:], sums)
}

// largest finds the largest element of the middle dimension of [outer, n, inner], the first of equal ones, or its index.
type largest[T float32 | float64] struct {
	in, out         ir.Operand
	outer, n, inner int
	perChunk        int
	x, y            []T
	index           []int32
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
		return largestOf[float64](s, axis), nil
	}
	return largestOf[float32](s, axis), nil
}

func largestOf[T float32 | float64](s ir.Step, axis int) *largest[T] {
	k := &largest[T]{in: s.In[0], out: s.Out[0]}
	k.outer, k.n, k.inner = axes(s.In[0].Shape, axis, axis+1)
	k.perChunk = max(1, rowsPerTask/max(k.n, 1))
	return k
}

func (k *largest[T]) run(p *program) error {
	k.x = elements[T](p, k.in)
	if k.out.DType == ir.Int32 {
		k.index = elements[int32](p, k.out)
	} else {
		k.y = elements[T](p, k.out)
	}
	p.device.pool.run((k.outer*k.inner+k.perChunk-1)/k.perChunk, k)
	k.x, k.y, k.index = nil, nil, nil
	return nil
}

func (k *largest[T]) work(chunk, _ int) {
	for i := chunk * k.perChunk; i < min((chunk+1)*k.perChunk, k.outer*k.inner); i++ {
		x := k.x[i/k.inner*k.n*k.inner+i%k.inner:]
		best, at := x[0], 0
		for j := 1; j < k.n && best == best; j++ {
			if v := x[j*k.inner]; v > best || v != v {
				best, at = v, j
			}
		}
		if k.index != nil {
			k.index[i] = int32(at)
		} else {
			k.y[i] = best
		}
	}
}
