//go:build !purego

package cpu

// The elements after the last four of a row are processed in plain Go.
var neonRows = rowFunctions{
	squares: func(x []float32, shift float32) float32 {
		n := len(x) &^ (four - 1)
		rest := squaresGeneric(x[n:], shift)
		if n == 0 {
			return rest
		}
		return squaresNEON(n, &x[0], shift) + rest
	},
	normalize: func(y, x, w, b []float32, shift, scale float32) {
		n := len(y) &^ (four - 1)
		if n > 0 {
			normalizeNEON(n, &y[0], &x[:n][0], &w[:n][0], &b[:n][0], shift, scale)
		}
		normalizeGeneric(y[n:], x[n:], w[n:], b[n:], shift, scale)
	},
	slopes: func(x, dy, w []float32, shift float32) (sum, dot float32) {
		n := len(x) &^ (four - 1)
		sum, dot = slopesGeneric(x[n:], dy[n:], w[n:], shift)
		if n > 0 {
			s, d := slopesNEON(n, &x[0], &dy[:n][0], &w[:n][0], shift)
			sum, dot = sum+s, dot+d
		}
		return sum, dot
	},
	dots: func(x, w []float32, pitch int) [dotRows]float32 {
		n := len(x) &^ (four - 1)
		if n == 0 {
			return dotsGeneric(x, w, pitch)
		}
		_ = w[(dotRows-1)*pitch+len(x)-1]
		var sums [dotRows]float32
		dotsNEON(n, pitch, &x[0], &w[0], &sums[0])
		if n < len(x) {
			for i, rest := range dotsGeneric(x[n:], w[n:], pitch) {
				sums[i] += rest
			}
		}
		return sums
	},
	addProducts: func(c []float32, x *[dotRows]float32, w []float32, pitch int) {
		n := len(c) &^ (four - 1)
		if n > 0 {
			_ = w[(dotRows-1)*pitch+len(c)-1]
			addProductsNEON(n, pitch, &x[0], &w[0], &c[0])
		}
		if n < len(c) {
			addProductsGeneric(c[n:], x, w[n:], pitch)
		}
	},
	normGradient: func(dx, x, dy, w []float32, shift, slope, mean, scale float32) {
		n := len(dx) &^ (four - 1)
		if n > 0 {
			normGradientNEON(n, &dx[0], &x[:n][0], &dy[:n][0], &w[:n][0], shift, slope, mean, scale)
		}
		normGradientGeneric(dx[n:], x[n:], dy[n:], w[n:], shift, slope, mean, scale)
	},
	normWeights: func(dw, db, x, dy []float32, shift, scale float32) {
		n := len(dw) &^ (four - 1)
		if n > 0 {
			normWeightsNEON(n, &dw[0], &db[:n][0], &x[:n][0], &dy[:n][0], shift, scale)
		}
		normWeightsGeneric(dw[n:], db[n:], x[n:], dy[n:], shift, scale)
	},
	addRows: func(d []float64, x []float32, rows, pitch int) {
		n := len(d) &^ (four - 1)
		for r := range rows {
			row := x[r*pitch:][:len(d)]
			if n > 0 {
				addRowNEON(n, &d[0], &row[0])
			}
			for i, v := range row[n:] {
				d[n+i] += float64(v)
			}
		}
	},

	softmaxRows:         softmaxRowsComposed,
	softmaxGradientRows: softmaxGradientRowsComposed,
}
