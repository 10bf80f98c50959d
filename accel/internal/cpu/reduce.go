package cpu

import "github.com/quernlab/quern/accel/internal/ir"

var _ = implement[ir.ArgMax](newArgMax, float64ArgMax)
var _ = implement[ir.Max](newMax)
var _ = implement[ir.Sum](newSum)

// A sum is split into blocks of fixed size, so the order of additions depends on the shape
// alone and not on the number of threads.
const (
	sumBlock    = 8192    // elements of a row that are summed in float32
	sumRows     = 64      // rows of a column sum that are added at once
	columnWidth = 2048    // maximum columns of a column sum per chunk
	columnBlock = 1 << 16 // approximate elements of a column sum per chunk
	rowsPerTask = 8192    // approximate elements of short rows per chunk
	exactSum    = 1024    // elements of a row, up to which they are summed in float64
	narrow      = 64      // columns, up to which a column sum is in float64: tables of few columns are long
)

// axes splits a shape around a reduction: [outer, n, inner].
func axes(shape []int, from, to int) (outer, n, inner int) {
	return ir.Len(shape[:from]), ir.Len(shape[from:to]), ir.Len(shape[to:])
}

// sum sums over the middle dimension of [outer, n, inner].
type sum struct {
	device          *Device
	in, out         ir.Operand
	outer, n, inner int
	blocks          int // blocks of a single long row
	tiles           int // blocks of columns
	rows            int // rows per chunk: short rows, or those of a column sum
	x, y            []float32
	partial         []float64
	columnSums      []float32 // sums of blocks of rows, if there are several
	narrowSums      []float64 // the same of up to narrow columns
}

func newSum(d *Device, s ir.Step) (step, error) {
	op := s.Op.(ir.Sum)
	if s.Out[0].DType == ir.Float64 {
		return newFloat64Lines(s, op.From, op.To, 1, sumLine), nil
	}
	k := &sum{device: d, in: s.In[0], out: s.Out[0]}
	k.outer, k.n, k.inner = axes(s.In[0].Shape, op.From, op.To)
	k.blocks = (k.n + sumBlock - 1) / sumBlock
	k.rows = max(1, rowsPerTask/max(k.n, 1))
	if k.inner > 1 {
		k.tiles = (k.inner + columnWidth - 1) / columnWidth
		k.rows = roundUp(columnBlock/min(k.inner, columnWidth), sumRows)
		if k.blocks = max(1, (k.n+k.rows-1)/k.rows); k.blocks > 1 {
			if k.inner <= narrow {
				k.narrowSums = make([]float64, k.outer*k.blocks*k.inner)
			} else {
				k.columnSums = make([]float32, k.outer*k.blocks*k.inner)
			}
		}
	}
	if k.inner == 1 && k.blocks > 1 {
		k.partial = make([]float64, k.outer*k.blocks)
	}
	return k, nil
}

func (k *sum) run(p *program) error {
	k.x, k.y = elements[float32](p, k.in), elements[float32](p, k.out)
	switch {
	case len(k.y) == 0:
	case k.inner > 1:
		p.device.pool.run(k.outer*k.blocks*k.tiles, k)
		for i := 0; i < len(k.columnSums)/(k.blocks*k.inner); i++ {
			y := k.y[i*k.inner:][:k.inner]
			clear(y)
			k.device.vectors.addRows(y, k.columnSums[i*k.blocks*k.inner:], k.blocks, k.inner)
		}
		for i := 0; i < len(k.narrowSums)/k.blocks; i++ {
			outer, column, t := i/k.inner, i%k.inner, 0.0
			for b := range k.blocks {
				t += k.narrowSums[(outer*k.blocks+b)*k.inner+column]
			}
			k.y[i] = float32(t)
		}
	case k.blocks > 1:
		p.device.pool.run(k.outer*k.blocks, k)
		for i := range k.y {
			t := 0.0
			for _, v := range k.partial[i*k.blocks : (i+1)*k.blocks] {
				t += v
			}
			k.y[i] = float32(t)
		}
	default:
		p.device.pool.run((k.outer+k.rows-1)/k.rows, k)
	}
	k.x, k.y = nil, nil
	return nil
}

func (k *sum) work(chunk, _ int) {
	switch {
	case k.inner > 1:
		k.columns(chunk/k.tiles, chunk%k.tiles*columnWidth)
	case k.blocks > 1:
		row, b := chunk/k.blocks, chunk%k.blocks
		x := k.x[row*k.n : (row+1)*k.n]
		k.partial[chunk] = float64(k.device.vectors.sum(x[b*sumBlock : min((b+1)*sumBlock, k.n)]))
	default:
		for i := chunk * k.rows; i < min((chunk+1)*k.rows, k.outer); i++ {
			k.y[i] = k.row(k.x[i*k.n : (i+1)*k.n])
		}
	}
}

// columns adds the rows of a block in groups, and then the groups, starting at a column.
func (k *sum) columns(block, from int) {
	outer, first := block/k.blocks, block%k.blocks*k.rows
	if k.inner <= narrow {
		k.narrowColumns(block, k.x[(outer*k.n+first)*k.inner:(outer*k.n+min(first+k.rows, k.n))*k.inner])
		return
	}
	y := k.y
	if k.blocks > 1 {
		y = k.columnSums
	}
	y = y[block*k.inner+from:][:min(columnWidth, k.inner-from)]
	clear(y)
	last := min(first+k.rows, k.n)
	for r := first; r < last; r += sumRows {
		k.device.vectors.addRows(y, k.x[(outer*k.n+r)*k.inner+from:], min(sumRows, last-r), k.inner)
	}
}

// row sums a row. That of equal numbers is exact if it is short, so that their mean is the number.
func (k *sum) row(x []float32) float32 {
	if len(x) > exactSum {
		return k.device.vectors.sum(x)
	}
	var a, b, c, d float64
	for len(x) >= 4 {
		v := x[:4:4]
		a += float64(v[0])
		b += float64(v[1])
		c += float64(v[2])
		d += float64(v[3])
		x = x[4:]
	}
	for _, v := range x {
		a += float64(v)
	}
	return float32((a + b) + (c + d))
}

// narrowColumns adds the rows x of a block in float64.
func (k *sum) narrowColumns(block int, x []float32) {
	var sums [narrow]float64
	all := sums[:k.inner]
	for ; len(x) > 0; x = x[len(all):] {
		for i, v := range x[:len(all)] {
			all[i] += float64(v)
		}
	}
	if k.narrowSums != nil {
		copy(k.narrowSums[block*k.inner:], all)
		return
	}
	for i, v := range all {
		k.y[block*k.inner+i] = float32(v)
	}
}

// maxStep computes the largest element of the middle dimension of [outer, n, inner].
type maxStep struct {
	in, out         ir.Operand
	outer, n, inner int
	perChunk        int
	x, y            []float32
	index           []int32
}

func newMax(_ *Device, s ir.Step) (step, error) {
	axis := s.Op.(ir.Max).Axis
	if s.Out[0].DType == ir.Float64 {
		return newFloat64Lines(s, axis, axis+1, 1, maxLine), nil
	}
	return newLargest(s, axis), nil
}

func newArgMax(_ *Device, s ir.Step) (step, error) { return newLargest(s, s.Op.(ir.ArgMax).Axis), nil }

func newLargest(s ir.Step, axis int) *maxStep {
	k := &maxStep{in: s.In[0], out: s.Out[0]}
	k.outer, k.n, k.inner = axes(s.In[0].Shape, axis, axis+1)
	k.perChunk = max(1, rowsPerTask/max(k.n, 1))
	return k
}

func (k *maxStep) run(p *program) error {
	k.x = elements[float32](p, k.in)
	if k.out.DType == ir.Int32 {
		k.index = elements[int32](p, k.out)
	} else {
		k.y = elements[float32](p, k.out)
	}
	p.device.pool.run((k.outer*k.inner+k.perChunk-1)/k.perChunk, k)
	k.x, k.y, k.index = nil, nil, nil
	return nil
}

func (k *maxStep) work(chunk, _ int) {
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
