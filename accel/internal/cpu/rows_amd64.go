//go:build !purego

package cpu

var avx2Rows = rowFunctions{
	squares:      rowSquares(8, squaresAVX2),
	normalize:    rowNormalize(normalizeAVX2),
	slopes:       rowSlopes(slopesAVX2),
	normGradient: rowNormGradient(normGradientAVX2),
	normWeights:  rowNormWeights(normWeightsAVX2),
	dots:         rowDots(8, dotsAVX2),
	addProducts:  rowProducts(8, addProductsAVX2),
	addRows:      addRowsAVX2,

	softmaxRows:         wholeSoftmaxRows(softmaxRowsAVX2),
	softmaxGradientRows: wholeSoftmaxGradientRows(softmaxGradientRowsAVX2),

	lstm:         wholeLSTM(8, lstmAVX2),
	lstmGradient: wholeLSTMGradient(8, lstmGradientAVX2),
}

var avx512Rows = rowFunctions{
	squares:      rowSquares(16, squaresAVX512),
	normalize:    rowNormalize(normalizeAVX512),
	slopes:       rowSlopes(slopesAVX512),
	normGradient: rowNormGradient(normGradientAVX512),
	normWeights:  rowNormWeights(normWeightsAVX512),
	dots:         rowDots(16, dotsAVX512),
	addProducts:  rowProducts(16, addProductsAVX512),
	addRows:      addRowsAVX2, // limited by memory

	softmaxRows:         wholeSoftmaxRows(softmaxRowsAVX512),
	softmaxGradientRows: wholeSoftmaxGradientRows(softmaxGradientRowsAVX512),

	lstm:         wholeLSTM(16, lstmAVX512),
	lstmGradient: wholeLSTMGradient(16, lstmGradientAVX512),
}

func wholeSoftmaxRows(f func(rows, width, pitch, seen, step int, p *float32, factor float32, top, sum *float32)) func(v *vectors, p []float32, r scoreRows, factor float32, top, sum []float32) {
	return func(v *vectors, p []float32, r scoreRows, factor float32, top, sum []float32) {
		if !r.whole(p) {
			softmaxRowsComposed(v, p, r, factor, top, sum)
			return
		}
		f(r.rows, r.width, r.pitch, r.seen, r.step, &p[0], factor, &top[:r.rows][0], &sum[:r.rows][0])
	}
}

func wholeSoftmaxGradientRows(f func(rows, width, pitch, seen, step int, p, ds *float32, factor, scale float32, logarithm, delta *float32)) func(v *vectors, p, ds []float32, r scoreRows, factor, scale float32, logarithm, delta []float32) {
	return func(v *vectors, p, ds []float32, r scoreRows, factor, scale float32, logarithm, delta []float32) {
		if !r.whole(p) || len(ds) < len(p) {
			softmaxGradientRowsComposed(v, p, ds, r, factor, scale, logarithm, delta)
			return
		}
		f(r.rows, r.width, r.pitch, r.seen, r.step, &p[0], &ds[0], factor, scale, &logarithm[:r.rows][0], &delta[:r.rows][0])
	}
}

func wholeLSTM(lanes int, f func(n int, gates, x, before, cell, next *float32)) func(v *vectors, gates, x, before, cell, next []float32) {
	return func(v *vectors, gates, x, before, cell, next []float32) {
		n := len(next)
		if n == 0 || n%lanes > 0 {
			lstmComposed(v, gates, x, before, cell, next)
			return
		}
		f(n, &gates[:4*n][0], &x[:4*n][0], &before[:n][0], &cell[:n][0], &next[0])
	}
}

func wholeLSTMGradient(lanes int, f func(n int, slopes, gates, before, cell, dh, dc *float32)) func(v *vectors, slopes, gates, before, cell, dh, dc []float32) {
	return func(v *vectors, slopes, gates, before, cell, dh, dc []float32) {
		n := len(dh)
		if n == 0 || n%lanes > 0 {
			lstmGradientComposed(v, slopes, gates, before, cell, dh, dc)
			return
		}
		f(n, &slopes[:4*n][0], &gates[:4*n][0], &before[:n][0], &cell[:n][0], &dh[0], &dc[:n][0])
	}
}

// whole reports whether there are rows, and whether each has space for whole vectors of 16.
func (r scoreRows) whole(p []float32) bool {
	return r.rows > 0 && roundUp(r.width, 16) <= r.pitch && len(p) >= r.rows*r.pitch
}

// addRowsAVX2 adds eight rows at a time in wide tables. In narrow ones, and the last rows and
// elements, it adds all rows to eight vectors, then to one, then to the remaining elements.
func addRowsAVX2(d []float64, x []float32, rows, pitch int) {
	if rows == 0 || len(d) == 0 {
		return
	}
	_ = x[(rows-1)*pitch+len(d)-1]
	if n := len(d) / 8 * 8; n >= 64 {
		some := rows / 8 * 8
		for r := 0; r < some; r += 8 {
			addEightRowsAVX2(n, pitch, &d[0], &x[r*pitch])
		}
		if some > 0 {
			if n < len(d) {
				addColumnsAVX2(d[n:], x[n:], some, pitch)
			}
			if rows == some {
				return
			}
			x, rows = x[some*pitch:], rows-some
		}
	}
	addColumnsAVX2(d, x, rows, pitch)
}

func addColumnsAVX2(d []float64, x []float32, rows, pitch int) {
	const lanes = 4
	i := 0
	for ; i+8*lanes <= len(d); i += 8 * lanes {
		addRowsWideAVX2(rows, pitch, &d[i], &x[i])
	}
	for ; i+lanes <= len(d); i += lanes {
		addRowsNarrowAVX2(rows, pitch, &d[i], &x[i])
	}
	if i < len(d) {
		addRowsGeneric(d[i:], x[i:], rows, pitch)
	}
}
