package cpu

// packRows writes n rows of depth k as the panels that tiles read.
func (t *gemmKernel) packRows(dst, src []float32, row, col, n, k int) {
	panels, done := t.panels(n), 0
	if row == 1 && panels > 1 {
		done = t.packAcross(dst, src, col, n, k, panels)
	}
	for p := 0; p < panels && done < k; p++ {
		i, to := panelTop(n, panels, p), panelTop(n, panels, p+1)
		t.packPanel(dst[i*k+done*(to-i):][:(k-done)*(to-i)], src[i*row+done*col:], row, col, to-i, k-done, to-i)
	}
}

// packColumns writes n columns of depth k as panels of nr columns. The last panel has as
// many vectors as it needs.
func (t *gemmKernel) packColumns(dst, src []float32, row, col, n, k int) {
	whole, done := n/t.nr, 0
	if col == 1 && whole > 1 {
		done = t.packAcross(dst, src, row, whole*t.nr, k, whole)
	}
	for j := 0; j < n; j += t.nr {
		q := min(t.nr, n-j)
		w := t.width(q)
		from := done
		if q < t.nr {
			from = 0
		}
		if from < k {
			t.packPanel(dst[j*k+from*w:][:(k-from)*w], src[j*col+from*row:], col, row, q, k-from, w)
		}
	}
}

// pack writes n rows of depth k as panels of w rows, depth first, padded with zeros in the
// last panel. Element (i, p) is src[i*row+p*col].
func (t *gemmKernel) pack(dst, src []float32, row, col, n, k, w int) {
	for i := 0; i < n; i += w {
		t.packPanel(dst[i*k:][:w*k], src[i*row:], row, col, min(w, n-i), k, w)
	}
}

// packAcross packs rows of n contiguous elements, col apart, into several panels at once: a line of the source has elements of
// several panels, and a CPU fetches the neighbors of a line. It returns the depth that it has packed.
func (t *gemmKernel) packAcross(dst, src []float32, col, n, k, panels int) int {
	if t.copyPanels == nil {
		return 0
	}
	return t.copyPanels(dst, src, col, n, k, panels)
}

func (t *gemmKernel) packPanel(dst, src []float32, row, col, q, k, w int) {
	if k == 0 {
		return
	}
	if q < w {
		clear(dst)
	}
	switch {
	case row == 1 && t.copyRows != nil && q >= t.copied:
		t.copyRows(&dst[0], &src[0], k, q, w, col)
	case row == 1 && t.copyFew != nil && q >= 4:
		t.copyFew(&dst[0], &src[0], k, q, w, col)
	case row == 1:
		for p := range k {
			copy(dst[p*w:][:q], src[p*col:])
		}
	case col == 1 && t.interleave != nil && q >= t.interleaved && k >= 8:
		t.packBlocks(dst, src, row, q, k, w)
	case col == 1 && q == w && k >= 8 && t.few(q) != nil:
		whole := k &^ 7
		t.few(q)(&dst[0], &src[0], row, whole)
		if whole < k {
			interleaveRows(dst[whole*w:], src[whole:], row, q, k-whole, w)
		}
	case col == 1:
		interleaveRows(dst, src, row, q, k, w)
	default:
		for p := range k {
			for i := range q {
				dst[p*w+i] = src[p*col+i*row]
			}
		}
	}
}

// few returns the function that packs this number of rows, or nil.
func (t *gemmKernel) few(rows int) func(dst, src *float32, row, k int) {
	if rows < len(t.interleaveFew) {
		return t.interleaveFew[rows]
	}
	return nil
}

// interleaveEight returns interleave if it is for eight rows, or nil.
func (t *gemmKernel) interleaveEight() func(dst, src *float32, row, k, w int) {
	if t.interleaved == 8 {
		return t.interleave
	}
	return nil
}

// packBlocks interleaves contiguous rows some at a time. If the number of rows is not a
// multiple of that, the last block overlaps the previous one.
func (t *gemmKernel) packBlocks(dst, src []float32, row, q, k, w int) {
	whole := k &^ 7
	for i := 0; i < q; i += t.interleaved {
		i = min(i, q-t.interleaved)
		t.interleave(&dst[i], &src[i*row], row, whole, w)
	}
	if whole < k {
		interleaveRows(dst[whole*w:], src[whole:], row, q, k-whole, w)
	}
}

// interleaveRows interleaves contiguous rows two at a time.
func interleaveRows(dst, src []float32, row, q, k, w int) {
	i := 0
	for ; i+2 <= q; i += 2 {
		a := src[i*row:][:k]
		b := src[(i+1)*row:][:k]
		at := i
		for p, v := range a {
			o := dst[at : at+2 : at+2]
			o[0], o[1] = v, b[p]
			at += w
		}
	}
	for ; i < q; i++ {
		for p, v := range src[i*row:][:k] {
			dst[p*w+i] = v
		}
	}
}
