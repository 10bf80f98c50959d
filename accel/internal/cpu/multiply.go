package cpu

// panelProduct is c (+)= a·b for packed panels, some rows by some columns.
type panelProduct struct {
	c          []float32
	ldc        int
	a          []float32 // panels of rows, of a depth of their own
	depth      int       // of a's panels
	from, k    int       // the part of that depth that is worked on
	b          []float32 // panels of columns, k deep
	rows, cols int
	mode       int
	bias       []float32 // of the columns; may be nil
	edge       []float32 // room for a tile
}

// multiply runs over the tiles, a few panels of a at a time, which stay in the
// second-level cache.
func (d *Device) multiply(p panelProduct) {
	t := &d.kernel
	panels := t.panels(p.rows)
	for first := 0; first < panels; first += maxPanels {
		last := min(first+maxPanels, panels)
		for j := 0; j < p.cols; j += t.nr {
			n := min(t.nr, p.cols-j)
			width := t.width(n)
			b := &p.b[j*p.k]
			for q := first; q < last; q++ {
				i, to := p.rows*q/panels, p.rows*(q+1)/panels
				tile := t.tiles[to-i-1][width/t.lanes-1]
				a := &p.a[i*p.depth+p.from*(to-i)]
				if n < width {
					tile(p.k, a, b, &p.edge[0], width, 0, nil)
					d.storeEdge(p, width, i, to, j, n)
					continue
				}
				var bias *float32
				if p.bias != nil {
					bias = &p.bias[j]
				}
				tile(p.k, a, b, &p.c[i*p.ldc+j], p.ldc, p.mode, bias)
			}
		}
	}
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
