//go:build !purego

package cpu

// nativeVectors returns the set for vectors of four elements.
func nativeVectors() []*vectors { return []*vectors{neonVectors} }

// The assembly processes a multiple of four elements. The functions here run it once more for the remaining ones, on copies, so that an
// element's result does not depend on its place.

const four = 4

func vector1(f func(n int, d, a *float32)) func(d, a []float32) {
	return func(d, a []float32) {
		n := len(d) &^ (four - 1)
		if n > 0 {
			f(n, &d[0], &a[:n][0])
		}
		if n < len(d) {
			var x [four]float32
			copy(x[:], a[n:len(d)])
			f(four, &x[0], &x[0])
			copy(d[n:], x[:])
		}
	}
}

func vector2(f func(n int, d, a, b *float32)) func(d, a, b []float32) {
	return func(d, a, b []float32) {
		n := len(d) &^ (four - 1)
		if n > 0 {
			f(n, &d[0], &a[:n][0], &b[:n][0])
		}
		if n < len(d) {
			var x, y [four]float32
			copy(x[:], a[n:len(d)])
			copy(y[:], b[n:len(d)])
			f(four, &x[0], &x[0], &y[0])
			copy(d[n:], x[:])
		}
	}
}

func vectorScalar(f func(n int, d, a *float32, s float32)) func(d, a []float32, s float32) {
	return func(d, a []float32, s float32) {
		n := len(d) &^ (four - 1)
		if n > 0 {
			f(n, &d[0], &a[:n][0], s)
		}
		if n < len(d) {
			var x [four]float32
			copy(x[:], a[n:len(d)])
			f(four, &x[0], &x[0], s)
			copy(d[n:], x[:])
		}
	}
}

func fold2(f func(n int, d, a, b, s *float32)) func(d, a, b, c []float32, s *foldScalars) {
	return func(d, a, b, _ []float32, s *foldScalars) {
		n := len(d) &^ (four - 1)
		if n > 0 {
			f(n, &d[0], &a[:n][0], &b[:n][0], &s[0])
		}
		if n < len(d) {
			var x, y [four]float32
			copy(x[:], a[n:len(d)])
			copy(y[:], b[n:len(d)])
			f(four, &x[0], &x[0], &y[0], &s[0])
			copy(d[n:], x[:])
		}
	}
}

func rootStepVectors(d, a, b, c []float32, s *foldScalars) {
	n := len(d) &^ (four - 1)
	if n > 0 {
		rootStepNEON(n, &d[0], &a[:n][0], &b[:n][0], &c[:n][0], &s[0])
	}
	if n < len(d) {
		var x, y, z [four]float32
		copy(x[:], a[n:len(d)])
		copy(y[:], b[n:len(d)])
		copy(z[:], c[n:len(d)])
		rootStepNEON(four, &x[0], &x[0], &y[0], &z[0], &s[0])
		copy(d[n:], x[:])
	}
}

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

func weighVectors(d, a, b []float32, s, t float32) {
	n := len(d) &^ (four - 1)
	if n > 0 {
		weighNEON(n, &d[0], &a[:n][0], &b[:n][0], s, t)
	}
	if n < len(d) {
		var x, y [four]float32
		copy(x[:], a[n:len(d)])
		copy(y[:], b[n:len(d)])
		weighNEON(four, &x[0], &x[0], &y[0], s, t)
		copy(d[n:], x[:])
	}
}

func sumVectors(a []float32) float64 {
	n := len(a) &^ (four - 1)
	if n == 0 {
		return sumGeneric(a)
	}
	return sumNEON(n, &a[0]) + sumGeneric(a[n:])
}

func largestVectors(a []float32) float32 {
	n := len(a) &^ (four - 1)
	if n == 0 {
		return largestGeneric(a)
	}
	top := largestNEON(n, &a[0])
	for _, v := range a[n:] {
		if v > top {
			top = v
		}
	}
	return top
}

func expSumVectors(d, a []float32, scale, shift float32) float32 {
	n := len(d) &^ (four - 1)
	sum := float32(0)
	if n > 0 {
		sum = expSumNEON(n, &d[0], &a[:n][0], scale, shift)
	}
	if n < len(d) {
		var x [four]float32
		copy(x[:], a[n:len(d)])
		expSumNEON(four, &x[0], &x[0], scale, shift)
		copy(d[n:], x[:])
		for _, v := range d[n:] {
			sum += v
		}
	}
	return sum
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
	sum:          sumVectors,
	sumFours:     sumVectors,
	largest:      largestVectors,

	divideBytes: func(d []float32, a []byte, by float32) {
		done := divideVectors(d, a, by)
		divideBytesGeneric(d[done:], a[done:len(d)], by)
	},

	expSum: expSumVectors,
	weigh:  weighVectors,

	blend:       fold2(blendNEON),
	blendSquare: fold2(blendSquareNEON),
	rootStep:    rootStepVectors,
	momentStep:  momentStepVectors,
}
