package cpu

import "math"

// The vector functions in plain Go, for all CPUs; they are the reference for the assembly.

type real interface{ float32 | float64 }

func absGeneric(d, a []float32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = math.Float32frombits(math.Float32bits(a[i]) &^ (1 << 31))
	}
}

func addGeneric[T real](d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] + b[i]
	}
}

func addScalarGeneric(d, a []float32, s float32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = a[i] + s
	}
}

func subGeneric[T real](d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] - b[i]
	}
}

func mulGeneric[T real](d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] * b[i]
	}
}

func mulScalarGeneric[T real](d, a []T, s T) {
	a = a[:len(d)]
	for i := range d {
		d[i] = a[i] * s
	}
}

func divGeneric[T real](d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] / b[i]
	}
}

func maximumGeneric(d, a, b []float32) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = max(a[i], b[i])
	}
}

func reluGeneric(d, a []float32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = max(a[i], 0)
	}
}

func reluGradientGeneric(d, dy, y []float32) {
	dy, y = dy[:len(d)], y[:len(d)]
	for i := range d {
		v := dy[i]
		if !(y[i] > 0) {
			v = 0
		}
		d[i] = v
	}
}

func sqrtGeneric(d, a []float32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = float32(math.Sqrt(float64(a[i])))
	}
}

func equalGeneric(d, a, b []float32) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		v := float32(0)
		if a[i] == b[i] {
			v = 1
		}
		d[i] = v
	}
}

func greaterGeneric(d, a, b []float32) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		v := float32(0)
		if a[i] > b[i] {
			v = 1
		}
		d[i] = v
	}
}

func where[T real](d, m, a, b []T) {
	m, a, b = m[:len(d)], a[:len(d)], b[:len(d)]
	for i := range d {
		v := a[i]
		if m[i] == 0 {
			v = b[i]
		}
		d[i] = v
	}
}

func fill(d []float32, s float32) {
	for i := range d {
		d[i] = s
	}
}

// rounded returns the function of elements that rounds a function of float64.
func rounded(f func(float64) float64) func(d, a []float32) {
	return func(d, a []float32) {
		a = a[:len(d)]
		for i := range d {
			d[i] = float32(f(float64(a[i])))
		}
	}
}

var (
	expGeneric     = rounded(math.Exp)
	geluGeneric    = rounded(geluScalar)
	logarithm      = rounded(math.Log)
	sigmoidGeneric = rounded(logistic)
	tanhGeneric    = rounded(math.Tanh)
)

func power(d, a []float32, s float32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = float32(math.Pow(float64(a[i]), float64(s)))
	}
}

func geluGradientGeneric(d, dy, a []float32) {
	dy, a = dy[:len(d)], a[:len(d)]
	for i := range d {
		d[i] = float32(float64(dy[i]) * geluSlopeScalar(float64(a[i])))
	}
}

// biasReLUGeneric is max(a+b, 0).
func biasReLUGeneric(d, a, b []float32) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = max(a[i]+b[i], 0)
	}
}

// sumGeneric adds in four lanes, then the lanes in pairs.
func sumGeneric(x []float32) float64 {
	var a, b, c, d float64
	for len(x) >= 4 {
		v := x[:4:4]
		a += float64(v[0])
		b += float64(v[1])
		c += float64(v[2])
		d += float64(v[3])
		x = x[4:]
	}
	for _, v := range x {
		a += float64(v)
	}
	return (a + b) + (c + d)
}

func largestGeneric(a []float32) float32 {
	m := float32(math.Inf(-1))
	for _, v := range a {
		if v > m {
			m = v
		}
	}
	return m
}

// The conversions prevent fused multiply-adds, because the separate ops round.

func blendGeneric(d, a, b, _ []float32, s *foldScalars) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = float32(float32(a[i]*s[0])+float32(b[i]*s[1])) + s[2] + s[3]
	}
}

func blendSquareGeneric(d, a, b, _ []float32, s *foldScalars) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = float32(float32(a[i]*s[0])+float32(float32(b[i]*b[i])*s[1])) + s[2] + s[3]
	}
}

func rootStepGeneric(d, a, b, c []float32, s *foldScalars) {
	a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
	for i := range d {
		root := float32(math.Sqrt(float64(float32(c[i] * s[2]))))
		d[i] = a[i] - float32(float32(b[i]*s[0])*s[1])/(root+s[3])
	}
}

// expSumGeneric adds as sumGeneric does.
func expSumGeneric(d, a []float32, scale, shift float32) float32 {
	a = a[:len(d)]
	for i := range d {
		d[i] = float32(a[i]*scale) + shift
	}
	expGeneric(d, d)
	return float32(sumGeneric(d))
}

func weighGeneric(d, a, b []float32, s, t float32) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = float32((a[i]+s)*b[i]) * t
	}
}

func divideBytesGeneric(d []float32, a []byte, by float32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = float32(a[i]) / by
	}
}
