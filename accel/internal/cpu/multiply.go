package cpu

// panelProduct is c (+)= a·b, some rows by some columns.
type panelProduct struct {
	c          []float32
	ldc        int
	a          []float32 // panels of rows, of a depth of their own
	depth      int       // of a's panels
	row, step  int       // where a is no panels: from one element to the next
	from, k    int       // the part of a's depth that is worked on
	b          []float32 // panels of columns, k deep
	next       int       // where b is no panels: from one row to the next
	rows, cols int
	more       bool // depth k follows after this one
	mode       int
	bias       []float32 // of the columns; may be nil
	edge       []float32 // room for a tile
}

// multiply runs over the tiles, a few panels of a at a time, which stay in the
// second-level cache.
func (d *Device) multiply(p panelProduct) {
	t := &d.kernel
	panels := t.panels(p.rows)
	var tops [maxPanels + 1]int // rows where panels of a begin, and the last one ends
	for first := 0; first < panels; first += maxPanels {
		count := min(maxPanels, panels-first)
		for q := range count + 1 {
			tops[q] = p.rows * (first + q) / panels
		}
		for j := 0; j < p.cols; j += t.nr {
			n := min(t.nr, p.cols-j)
			width := t.width(n)
			b, next := j, p.next
			if next == 0 {
				b, next = j*p.k, width
			}
			var bias *float32
			if p.bias != nil {
				bias = &p.bias[j]
			}
			for q, i := range tops[:count] {
				height := tops[q+1] - i
				row, step := p.row, p.step
				a := i*row + p.from*step
				if step == 0 {
					row, step = 1, height
					a = i*p.depth + p.from*step
				}
				tile := t.tiles[height-1][width/t.lanes-1]
				ahead, stride := p.ahead(a, height, q, count, j, t.nr)
				if n < width {
					tile(p.k, &p.a[a], row, step, &p.b[b], next, &p.edge[0], width, 0, nil, ahead, stride)
					d.storeEdge(p, width, i, i+height, j, n)
					continue
				}
				tile(p.k, &p.a[a], row, step, &p.b[b], next, &p.c[i*p.ldc+j], p.ldc, p.mode, bias, ahead, stride)
			}
		}
	}
}

// ahead is what a tile fetches for later ones, given where its own part of a
// begins, its height, its number among so many panels of a, and its column: the
// next rows of a, or where a lies by columns, of which each line belongs to another
// row of memory, what the next depth will read of both factors, or in the last one
// the next panel of b.
func (p *panelProduct) ahead(a, height, q, panels, j, nr int) (from *float32, stride int) {
	const line = cacheLine / 4
	switch {
	case p.step == 0: // panels are near
		stride = 0
	case p.step == 1:
		a += height * p.row
		stride = line
	case !p.more:
		stride = p.step
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

// storeEdge is the end of a tile that is wider than what is left of c.
func (d *Device) storeEdge(p panelProduct, width, from, to, j, n int) {
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

// epilogue adds the bias and applies the activation to a row, as a tile does to
// whole ones.
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
