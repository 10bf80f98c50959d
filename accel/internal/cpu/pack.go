package cpu

// packRows writes n rows of depth k as the panels that tiles read.
func (t *gemmKernel) packRows(dst, src []float32, row, col, n, k int) {
	panels := t.panels(n)
	deep := k
	if row == 1 {
		// A line has elements of several panels: they are packed before the cache loses it.
		deep = min(k, packedAtOnce)
	}
	for from := 0; from < k; from += deep {
		some := min(deep, k-from)
		for p := range panels {
			i, to := n*p/panels, n*(p+1)/panels
			t.packPanel(dst[i*k+from*(to-i):][:some*(to-i)], src[i*row+from*col:], row, col, to-i, some, to-i)
		}
	}
}

// packedAtOnce is the depth to which all panels of a column-major matrix are packed before any is packed deeper.
const packedAtOnce = 16

// packColumns writes n columns of depth k as panels of nr columns. The last panel has as
// many vectors as it needs.
func (t *gemmKernel) packColumns(dst, src []float32, row, col, n, k int) {
	for j := 0; j < n; j += t.nr {
		q := min(t.nr, n-j)
		w := t.width(q)
		t.packPanel(dst[j*k:][:w*k], src[j*col:], col, row, q, k, w)
	}
}

// pack writes n rows of depth k as panels of w rows, depth first, padded with zeros in the
// last panel. Element (i, p) is src[i*row+p*col].
func (t *gemmKernel) pack(dst, src []float32, row, col, n, k, w int) {
	for i := 0; i < n; i += w {
		t.packPanel(dst[i*k:][:w*k], src[i*row:], row, col, min(w, n-i), k, w)
	}
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
