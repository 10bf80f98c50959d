package cpu

// positions are the elements of a run that belong to results, rows·cols per image. The
// others are padding.
type positions struct{ start, rows, cols, pitch, image int }

// count returns the number of positions of one image.
func (p positions) count() int { return p.rows * p.cols }

// at returns the offset of position i, counted over all images.
func (p positions) at(i int) int {
	n, r := i/p.count(), i%p.count()
	return n*p.image + p.start + r/p.cols*p.pitch + r%p.cols
}

// window is up to 16 neighboring elements of a run, selected by a mask.
type window struct {
	from  int // offset of the first one, in bytes
	mask  int // the lowest bit is the first element
	taken int // bytes of the selected elements
}

const windowLen = 16

// windows appends the windows that cover count positions, starting at first.
func (p positions) windows(list []window, first, count int) []window {
	for i := first; i < first+count; {
		from := p.at(i)
		w := window{from: from * 4}
		for ; i < first+count; i++ {
			k := p.at(i) - from
			if k >= windowLen {
				break
			}
			w.mask |= 1 << k
			w.taken += 4
		}
		list = append(list, w)
	}
	return list
}

// columns are positions, split into the panels of a matmul's right-hand side.
type columns struct {
	positions
	panels [][]window
	n      int
}

// newColumns returns the columns of some images.
func newColumns(p positions, images, width int) columns {
	c := columns{positions: p, n: images * p.count()}
	for j := 0; j < c.n; j += width {
		c.panels = append(c.panels, p.windows(nil, j, min(width, c.n-j)))
	}
	return c
}

// packWindowsGeneric packs the selected elements of k shifted runs: row p of dst, w
// elements wide, comes from the run that starts at offsets[p]. A row may overrun its end by
// windowLen elements, and other implementations read as many after the last element.
func packWindowsGeneric(dst, runs []float32, offsets []int, w int, list []window) {
	at := make([]int, 0, maxTile)
	for _, x := range list {
		for k := range windowLen {
			if x.mask>>k&1 != 0 {
				at = append(at, x.from/4+k)
			}
		}
	}
	for p, offset := range offsets {
		row, from := dst[p*w:][:len(at)], runs[offset:]
		for i, a := range at {
			row[i] = from[a]
		}
	}
}

// packColumnPanels packs the panels of columns from..to, k deep, from the rows whose runs
// start at offsets. It may overrun its end by 2·windowLen elements.
func (d *Device) packColumnPanels(dst, runs []float32, offsets []int, c *columns, from, to int) {
	t := &d.kernel
	k := len(offsets)
	for j := from; j < to; j += t.nr {
		n := min(t.nr, to-j)
		w := t.width(n)
		panel := dst[(j-from)*k:]
		if n < w {
			clear(panel[:w*k])
		}
		t.packWindows(panel, runs, offsets, w, c.panels[j/t.nr])
	}
}
