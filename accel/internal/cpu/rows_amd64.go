//go:build !purego

package cpu

var avx2Rows = rowFunctions{
	squares: rowSquares(8, squaresAVX2),
	normalize: func(y, x, w, b []float32, shift, scale float32) {
		if n := len(y); n > 0 {
			normalizeAVX2(n, &y[0], &x[:n][0], &w[:n][0], &b[:n][0], shift, scale)
		}
	},
	slopes: func(x, dy, w []float32, shift float32) (sum, dot float32) {
		if n := len(x); n > 0 {
			return slopesAVX2(n, &x[0], &dy[:n][0], &w[:n][0], shift)
		}
		return 0, 0
	},
	normGradient: func(dx, x, dy, w []float32, shift, slope, mean, scale float32) {
		if n := len(dx); n > 0 {
			normGradientAVX2(n, &dx[0], &x[:n][0], &dy[:n][0], &w[:n][0], shift, slope, mean, scale)
		}
	},
	normWeights: func(dw, db, x, dy []float32, shift, scale float32) {
		if n := len(dw); n > 0 {
			normWeightsAVX2(n, &dw[0], &db[:n][0], &x[:n][0], &dy[:n][0], shift, scale)
		}
	},
	dots:        rowDots(8, dotsAVX2),
	addProducts: rowProducts(8, addProductsAVX2),
	addRows:     addRowsAVX2,

	softmaxRows:         softmaxRowsComposed,
	softmaxGradientRows: softmaxGradientRowsComposed,
}

var avx512Rows = rowFunctions{
	squares: rowSquares(16, squaresAVX512),
	normalize: func(y, x, w, b []float32, shift, scale float32) {
		if n := len(y); n > 0 {
			normalizeAVX512(n, &y[0], &x[:n][0], &w[:n][0], &b[:n][0], shift, scale)
		}
	},
	slopes: func(x, dy, w []float32, shift float32) (sum, dot float32) {
		if n := len(x); n > 0 {
			return slopesAVX512(n, &x[0], &dy[:n][0], &w[:n][0], shift)
		}
		return 0, 0
	},
	normGradient: func(dx, x, dy, w []float32, shift, slope, mean, scale float32) {
		if n := len(dx); n > 0 {
			normGradientAVX512(n, &dx[0], &x[:n][0], &dy[:n][0], &w[:n][0], shift, slope, mean, scale)
		}
	},
	normWeights: func(dw, db, x, dy []float32, shift, scale float32) {
		if n := len(dw); n > 0 {
			normWeightsAVX512(n, &dw[0], &db[:n][0], &x[:n][0], &dy[:n][0], shift, scale)
		}
	},
	dots:        rowDots(16, dotsAVX512),
	addProducts: rowProducts(16, addProductsAVX512),
	addRows:     addRowsAVX2, // limited by memory

	softmaxRows: func(v *vectors, p []float32, r scoreRows, factor float32, top, sum []float32) {
		if !r.whole(p) {
			softmaxRowsComposed(v, p, r, factor, top, sum)
			return
		}
		softmaxRowsAVX512(r.rows, r.width, r.pitch, r.seen, r.step, &p[0], factor, &top[:r.rows][0], &sum[:r.rows][0])
	},
	softmaxGradientRows: func(v *vectors, p, ds []float32, r scoreRows, factor, scale float32, logarithm, delta []float32) {
		if !r.whole(p) || len(ds) < len(p) {
			softmaxGradientRowsComposed(v, p, ds, r, factor, scale, logarithm, delta)
			return
		}
		softmaxGradientRowsAVX512(r.rows, r.width, r.pitch, r.seen, r.step, &p[0], &ds[0], factor, scale, &logarithm[:r.rows][0], &delta[:r.rows][0])
	},
}

// whole reports whether there are rows, and whether each has space for whole vectors of 16.
func (r scoreRows) whole(p []float32) bool {
	return r.rows > 0 && roundUp(r.width, 16) <= r.pitch && len(p) >= r.rows*r.pitch
}

func rowSquares(lanes int, f func(n int, x *float32, shift float32) float32) func(x []float32, shift float32) float32 {
	return func(x []float32, shift float32) float32 {
		n := len(x) / lanes * lanes
		rest := squaresGeneric(x[n:], shift)
		if n == 0 {
			return rest
		}
		return f(n, &x[0], shift) + rest
	}
}

func rowDots(lanes int, f func(n, pitch int, x, w, sums *float32)) func(x, w []float32, pitch int) [dotRows]float32 {
	return func(x, w []float32, pitch int) [dotRows]float32 {
		n := len(x) / lanes * lanes
		if n == 0 {
			return dotsGeneric(x, w, pitch)
		}
		_ = w[(dotRows-1)*pitch+len(x)-1]
		var sums [dotRows]float32
		f(n, pitch, &x[0], &w[0], &sums[0])
		if n < len(x) {
			for i, rest := range dotsGeneric(x[n:], w[n:], pitch) {
				sums[i] += rest
			}
		}
		return sums
	}
}

func rowProducts(lanes int, f func(n, pitch int, x, w, c *float32)) func(c []float32, x *[dotRows]float32, w []float32, pitch int) {
	return func(c []float32, x *[dotRows]float32, w []float32, pitch int) {
		n := len(c) / lanes * lanes
		if n > 0 {
			_ = w[(dotRows-1)*pitch+len(c)-1]
			f(n, pitch, &x[0], &w[0], &c[0])
		}
		if n < len(c) {
			addProductsGeneric(c[n:], x, w[n:], pitch)
		}
	}
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
