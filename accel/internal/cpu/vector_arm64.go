//go:build !purego

package cpu

// nativeVectors returns the set for vectors of four elements.
func nativeVectors() []*vectors { return []*vectors{neonVectors} }

const (
	four       = 4 // elements of a vector
	vectorStep = four
)

func momentStepVectors(dm, dv, dp, m, g, v, p []float32, s *[3]foldScalars) {
	n := len(dm) &^ (four - 1)
	if n > 0 {
		momentStepNEON(n, &dm[0], &dv[:n][0], &dp[:n][0], &m[:n][0], &g[:n][0], &v[:n][0], &p[:n][0], &s[0][0])
	}
	if n < len(dm) {
		var x [4][four]float32
		for i, from := range [][]float32{m, g, v, p} {
			copy(x[i][:], from[n:len(dm)])
		}
		momentStepNEON(four, &x[0][0], &x[2][0], &x[3][0], &x[0][0], &x[1][0], &x[2][0], &x[3][0], &s[0][0])
		copy(dm[n:], x[0][:])
		copy(dv[n:len(dm)], x[2][:])
		copy(dp[n:len(dm)], x[3][:])
	}
}

var neonVectors = &vectors{
	name:         neonName,
	rowFunctions: neonRows,
	abs:          vector1(absNEON),
	exp:          vector1(expNEON),
	gelu:         vector1(geluNEON),
	relu:         vector1(reluNEON),
	sigmoid:      vector1(sigmoidNEON),
	sqrt:         vector1(sqrtNEON),
	tanh:         vector1(tanhNEON),
	add:          vector2(addNEON),
	sub:          vector2(subNEON),
	mul:          vector2(mulNEON),
	div:          vector2(divNEON),
	maximum:      vector2(maximumNEON),
	equal:        vector2(equalNEON),
	greater:      vector2(greaterNEON),
	reluGradient: vector2(reluGradientNEON),
	geluGradient: vector2(geluGradientNEON),
	biasReLU:     vector2(biasReLUNEON),
	addScalar:    vectorScalar(addScalarNEON),
	mulScalar:    vectorScalar(mulScalarNEON),
	sum:          sumVectors(four, sumNEON),
	sumFours:     sumVectors(four, sumNEON),
	largest:      vectorLargest(four, largestNEON),

	divideBytes: func(d []float32, a []byte, by float32) {
		done := divideVectors(d, a, by)
		divideBytesGeneric(d[done:], a[done:len(d)], by)
	},

	expSum: vectorExpSum(expSumNEON),
	weigh:  vectorWeigh(weighNEON),

	blend:       fold2(blendNEON),
	blendSquare: fold2(blendSquareNEON),
	rootStep:    fold3(rootStepNEON),
	momentStep:  momentStepVectors,
}
