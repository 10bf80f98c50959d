package cpu

import "unsafe"

// panelProduct is c (+)= a·b for some rows and columns.
type panelProduct struct {
	c          []float32
	ldc        int
	a          []float32 // panels of rows with their own depth
	depth      int       // of a's panels
	row, step  int       // if a is not packed: strides of its rows and columns
	from, k    int       // the part of a's depth to multiply
	b          []float32 // panels of columns, k deep
	next       int       // if b is not packed: stride of its rows
	rows, cols int
	more       bool // another block of the depth follows
	order      panelOrder
	mode       int
	bias       []float32 // bias of the columns; may be nil
	edge       []float32 // buffer for a tile
	later      *lines    // what tiles prefetch instead of parts of a and b; nil for nothing
}

// lines are cache lines that tiles prefetch, each as many as its depth: those of rows that are so far apart that a CPU does not
// foresee which line is read next.
type lines struct{ columns []lineColumn }

// lineColumn is the lines of some rows in one column.
type lineColumn struct {
	from      []float32
	row, rows int
}

// add adds the lines of rows of n elements.
func (l *lines) add(m matrix, rows, n int) {
	if m.col != 1 || rows <= 0 {
		return
	}
	for at := 0; at < n; at += cacheLine / 4 {
		l.columns = append(l.columns, lineColumn{m.data[at:], m.row, rows})
	}
}

// next removes up to n lines, which are stride elements apart. from is nil if there is none.
func (l *lines) next(n int) (from *float32, stride int) {
	if len(l.columns) == 0 {
		return nil, 0
	}
	c := &l.columns[len(l.columns)-1]
	from, stride = &c.from[0], c.row
	if c.rows -= n; c.rows > 0 {
		c.from = c.from[n*c.row:]
	} else {
		l.columns = l.columns[:len(l.columns)-1]
	}
	return from, stride
}

// multiply computes all tiles, a few panels of a at a time, which stay in the L2 cache.
func (d *Device) multiply(p panelProduct) {
	t := &d.kernel
	panels, most := t.panels(p.rows), t.panelsAtOnce(p.k)
	least, taller := p.rows/max(panels, 1), p.rows%max(panels, 1)
	for first := 0; first < panels; first += most {
		count := min(most, panels-first)
		for j := 0; j < p.cols; j += t.nr {
			n := min(t.nr, p.cols-j)
			vectors := (n + t.lanes - 1) / t.lanes
			width := vectors * t.lanes
			b, next := j, p.next
			if next == 0 {
				b, next = j*p.k, width
			}
			var bias *float32
			if p.bias != nil {
				bias = &p.bias[j]
			}
			for q := 0; q < count; {
				at, step := q, 1 // among the panels of this time
				switch p.order {
				case upward:
					at, step = count-1-q, -1
				case outward:
					at = fromMiddle(q, count)
				}
				panel := first + at
				i, height, same := panel*least+min(panel, taller), least, count-q // same is how many panels of this height follow
				switch {
				case panel < taller:
					if height++; step > 0 {
						same = min(same, taller-panel)
					}
				case step < 0:
					same = min(same, panel-taller+1)
				}
				row, column, apart := p.row, p.step, p.row
				if column == 0 {
					row, column, apart = 1, height, p.depth
				}
				a := i*apart + p.from*column
				tile := t.tiles[height-1][vectors-1]
				ahead, stride := p.ahead(a, height, at, count, j, t.nr)
				if n < width {
					tile(p.k, &p.a[a], row, column, &p.b[b], next, &p.edge[0], width, 0, nil, ahead, stride, 1, 0, 0, 0)
					d.storeEdge(p, width, i, i+height, j, n)
					q++
					continue
				}
				rows, once, nextAhead := height*step, 1, 0
				if same > 1 && p.order != outward && p.later == nil {
					if second, s := p.ahead(a+rows*apart, height, at+step, count, j, t.nr); s == stride {
						once, nextAhead = same, elementsBetween(ahead, second)
					}
				}
				tile(p.k, &p.a[a], row, column, &p.b[b], next, &p.c[i*p.ldc+j], p.ldc, p.mode, bias, ahead, stride, once, rows*apart, rows*p.ldc, nextAhead)
				q += once
			}
		}
	}
}

// panelOrder is the order of the tiles of a column of the result.
type panelOrder uint8

const (
	downward panelOrder = iota
	upward
	outward // from the middle to both ends
)

// elementsBetween returns how many elements b is behind a.
func elementsBetween(a, b *float32) int {
	return (int(uintptr(unsafe.Pointer(b))) - int(uintptr(unsafe.Pointer(a)))) / 4
}

// fromMiddle returns number i of n in an order from the middle to both ends.
func fromMiddle(i, n int) int {
	if i%2 == 1 {
		return (n-1)/2 + (i+1)/2
	}
	return (n-1)/2 - i/2
}

// ahead returns the memory that a tile prefetches for later tiles. Its arguments are the
// tile's part of a, its height, its index among the panels of a, and its column. The memory
// is the next rows of a, while they come from memory; or, if a is column-major, where each line belongs to another row,
// what both operands need for the next block of the depth, or after the last block the next
// panel of b. If b is packed, it is the next panel of b.
func (p *panelProduct) ahead(a, height, q, panels, j, nr int) (from *float32, stride int) {
	const line = cacheLine / 4
	if p.later != nil {
		if from, stride = p.later.next(p.k); from != nil {
			return from, stride
		}
	}
	if p.next == 0 && j+nr < p.cols && (j > 0 || p.step != 1) {
		// All tiles together prefetch the next packed panel of b, each some elements with each step.
		stride = (nr + panels - 1) / panels
		if at := (j + nr + q*stride) * p.k; at < len(p.b) {
			return &p.b[at], stride
		}
	}
	switch {
	case p.step == 1:
		a += height * p.row
		stride = line
	case p.step == 0 || !p.more:
		stride = p.step // 0 for packed panels, which are contiguous
		if column := j + nr + q*line; p.next > 0 && q < nr/line && column < p.cols {
			return &p.b[column], p.next
		}
	case j == 0:
		a += p.k * p.step
		stride = p.step
	default:
		if column := ((j/nr-1)*panels + q) * line; p.next > 0 && column < p.cols {
			return &p.b[column+p.k*p.next], p.next
		}
	}
	return &p.a[min(a, len(p.a)-1)], stride
}

// storeEdge stores a tile that is wider than the remaining columns of c.
func (d *Device) storeEdge(p panelProduct, width, from, to, j, n int) {
	if store := d.kernel.storeEdge; store != nil {
		var bias *float32
		if p.bias != nil {
			bias = &p.bias[j]
		}
		store(to-from, n, &p.c[from*p.ldc+j], p.ldc, &p.edge[0], width, p.mode, bias)
		return
	}
	v := d.vectors
	for r := range to - from {
		row, part := p.c[(from+r)*p.ldc+j:][:n], p.edge[r*width:][:n]
		if p.mode&addResult != 0 {
			v.add(row, row, part)
		} else {
			copy(row, part)
		}
		var bias []float32
		if p.bias != nil {
			bias = p.bias[j:][:n]
		}
		d.epilogue(row, bias, p.mode&clampZero != 0)
	}
}

// epilogue adds the bias and applies the activation to a row, as a tile does for whole
// rows.
func (d *Device) epilogue(row, bias []float32, relu bool) {
	switch {
	case bias != nil && relu:
		d.vectors.biasReLU(row, row, bias)
	case bias != nil:
		d.vectors.add(row, row, bias)
	case relu:
		d.vectors.relu(row, row)
	}
}
