//go:build !purego

package cpu

var neonRows = rowFunctions{
	squares:      rowSquares(four, squaresNEON),
	normalize:    rowNormalize(normalizeNEON),
	slopes:       rowSlopes(slopesNEON),
	normGradient: rowNormGradient(normGradientNEON),
	normWeights:  rowNormWeights(normWeightsNEON),
	dots:         rowDots(four, dotsNEON),
	addProducts:  rowProducts(four, addProductsNEON),
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

	lstm:         lstmComposed,
	lstmGradient: lstmGradientComposed,
}
