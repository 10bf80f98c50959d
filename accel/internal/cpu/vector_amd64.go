//go:build !purego

package cpu

import "golang.org/x/sys/cpu"

// hasAVX2 and hasAVX512 report whether the assembly of that name can run. The system must
// also save the registers, which x/sys/cpu checks.
var (
	hasAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasFMA
	hasAVX512 = hasAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasBMI2
)

// native returns those of two variants that this CPU can run, the fastest first.
func native[T any](avx512, avx2 T) []T {
	switch {
	case hasAVX512:
		return []T{avx512, avx2}
	case hasAVX2:
		return []T{avx2}
	}
	return nil
}

// vectorStep is 1, since the assembly of elementwise functions processes any number of elements.
const vectorStep = 1

// nativeVectors returns the sets that this CPU can run, the fastest first.
func nativeVectors() []*vectors { return native(avx512Vectors, avx2Vectors) }

func momentVectors(f func(n int, dm, dv, dp, m, g, v, p, blend, blendSquare, rootStep *float32)) func(dm, dv, dp, m, g, v, p []float32, s *[3]foldScalars) {
	return func(dm, dv, dp, m, g, v, p []float32, s *[3]foldScalars) {
		if n := len(dm); n > 0 {
			f(n, &dm[0], &dv[:n][0], &dp[:n][0], &m[:n][0], &g[:n][0], &v[:n][0], &p[:n][0], &s[0][0], &s[1][0], &s[2][0])
		}
	}
}

func vectorBytes(lanes int, f func(n int, d *float32, a *uint8, by float32)) func(d []float32, a []byte, by float32) {
	return func(d []float32, a []byte, by float32) {
		whole := len(d) / lanes
		if whole > 0 {
			f(whole, &d[0], &a[:len(d)][0], by)
		}
		divideBytesGeneric(d[whole*lanes:], a[whole*lanes:len(d)], by)
	}
}

var avx2Vectors = &vectors{
	name:         "AVX2",
	rowFunctions: avx2Rows,
	abs:          vector1(absAVX2),
	exp:          vector1(expAVX2),
	gelu:         vector1(geluAVX2),
	relu:         vector1(reluAVX2),
	sigmoid:      vector1(sigmoidAVX2),
	sqrt:         vector1(sqrtAVX2),
	tanh:         vector1(tanhAVX2),
	add:          vector2(addAVX2),
	sub:          vector2(subAVX2),
	mul:          vector2(mulAVX2),
	div:          vector2(divAVX2),
	maximum:      vector2(maximumAVX2),
	equal:        vector2(equalAVX2),
	greater:      vector2(greaterAVX2),
	reluGradient: vector2(reluGradientAVX2),
	geluGradient: vector2(geluGradientAVX2),
	biasReLU:     vector2(biasReLUAVX2),
	addScalar:    vectorScalar(addScalarAVX2),
	mulScalar:    vectorScalar(mulScalarAVX2),
	sum:          sumVectors(32, sumAVX2),
	sumFours:     sumVectors(128, sumFoursAVX2),
	largest:      vectorLargest(8, largestAVX2),

	divideBytes: vectorBytes(8, divideBytesAVX2),

	expSum: vectorExpSum(expSumAVX2),
	weigh:  vectorWeigh(weighAVX2),

	blend:       fold2(blendAVX2),
	blendSquare: fold2(blendSquareAVX2),
	rootStep:    fold3(rootStepAVX2),
	momentStep:  momentVectors(momentStepAVX2),
}

var avx512Vectors = &vectors{
	name:         "AVX512",
	rowFunctions: avx512Rows,
	abs:          vector1(absAVX512),
	exp:          vector1(expAVX512),
	gelu:         vector1(geluAVX512),
	relu:         vector1(reluAVX512),
	sigmoid:      vector1(sigmoidAVX512),
	sqrt:         vector1(sqrtAVX512),
	tanh:         vector1(tanhAVX512),
	add:          vector2(addAVX512),
	sub:          vector2(subAVX512),
	mul:          vector2(mulAVX512),
	div:          vector2(divAVX512),
	maximum:      vector2(maximumAVX512),
	equal:        vector2(equalAVX512),
	greater:      vector2(greaterAVX512),
	reluGradient: vector2(reluGradientAVX512),
	geluGradient: vector2(geluGradientAVX512),
	biasReLU:     vector2(biasReLUAVX512),
	addScalar:    vectorScalar(addScalarAVX512),
	mulScalar:    vectorScalar(mulScalarAVX512),
	sum:          sumVectors(32, sumAVX2), // limited by memory
	sumFours:     sumVectors(128, sumFoursAVX2),
	largest:      vectorLargest(16, largestAVX512),

	divideBytes: vectorBytes(16, divideBytesAVX512),

	expSum: vectorExpSum(expSumAVX512),
	weigh:  vectorWeigh(weighAVX512),

	blend:       fold2(blendAVX512),
	blendSquare: fold2(blendSquareAVX512),
	rootStep:    fold3(rootStepAVX512),
	momentStep:  momentVectors(momentStepAVX512),
}
