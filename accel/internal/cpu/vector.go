package cpu

// vectors are the functions of elementwise ops and reductions. d may be one of the inputs;
// all have d's length.
type vectors struct {
	name string
	rowFunctions

	abs, exp, gelu, relu, sigmoid, sqrt, tanh   func(d, a []float32)
	add, sub, mul, div, maximum, equal, greater func(d, a, b []float32)
	reluGradient, geluGradient, biasReLU        func(d, a, b []float32)
	addScalar, mulScalar                        func(d, a []float32, s float32)
	sum                                         func(a []float32) float64
	sumFours                                    func(a []float32) float64 // adds four elements in float32 before
	largest                                     func(a []float32) float32 // -Inf for an empty slice; ignores NaN

	divideBytes func(d []float32, a []byte, by float32)

	// expSum is d = exp(a·scale + shift) and its sum, and weigh is (a+s)·b·t.
	expSum func(d, a []float32, scale, shift float32) float32
	weigh  func(d, a, b []float32, s, t float32)

	// The foldings, with scalars s, t, u and w:
	//	blend        a·s + b·t + u + w
	//	blendSquare  a·s + b²·t + u + w
	//	rootStep     a - b·s·t / (√(c·u) + w)
	blend, blendSquare, rootStep func(d, a, b, c []float32, s *foldScalars)

	// momentStep is dm = blend(m, g), dv = blendSquare(v, g) and dp = rootStep(p, dm, dv),
	// in one pass and with the same bits; nil if calling them one after the other is as
	// fast.
	momentStep func(dm, dv, dp, m, g, v, p []float32, s *[3]foldScalars)
}

var genericVectors = &vectors{
	name:         "generic",
	rowFunctions: genericRows,
	abs:          absGeneric,
	exp:          expGeneric,
	gelu:         geluGeneric,
	relu:         reluGeneric,
	sigmoid:      sigmoidGeneric,
	sqrt:         sqrtGeneric,
	tanh:         tanhGeneric,
	add:          addGeneric[float32],
	sub:          subGeneric[float32],
	mul:          mulGeneric[float32],
	div:          divGeneric[float32],
	maximum:      maximumGeneric,
	equal:        equalGeneric,
	greater:      greaterGeneric,
	reluGradient: reluGradientGeneric,
	geluGradient: geluGradientGeneric,
	biasReLU:     biasReLUGeneric,
	addScalar:    addScalarGeneric,
	mulScalar:    mulScalarGeneric[float32],
	sum:          sumGeneric,
	sumFours:     sumGeneric, // in float64, which is no slower
	largest:      largestGeneric,

	divideBytes: divideBytesGeneric,

	expSum: expSumGeneric,
	weigh:  weighGeneric,

	blend:       blendGeneric,
	blendSquare: blendSquareGeneric,
	rootStep:    rootStepGeneric,
}
