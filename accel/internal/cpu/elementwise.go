package cpu

import "math"

// vector computes dst from up to three inputs of dst's length and a scalar.
type vector func(dst, a, b, c []float32, s float32)

// vectors are the elementwise ops, by name.
var vectors = map[string]vector{
	"Abs":          func(d, a, _, _ []float32, _ float32) { vecAbs(d, a) },
	"Add":          func(d, a, b, _ []float32, _ float32) { vecAdd(d, a, b) },
	"AddScalar":    func(d, a, _, _ []float32, s float32) { vecAddScalar(d, a, s) },
	"Cast":         func(d, a, _, _ []float32, _ float32) { copy(d, a) },
	"Div":          func(d, a, b, _ []float32, _ float32) { vecDiv(d, a, b) },
	"Equal":        func(d, a, b, _ []float32, _ float32) { vecEqual(d, a, b) },
	"Exp":          func(d, a, _, _ []float32, _ float32) { vecExp(d, a) },
	"Fill":         func(d, _, _, _ []float32, s float32) { vecFill(d, s) },
	"GELU":         func(d, a, _, _ []float32, _ float32) { vecGELU(d, a) },
	"GELUGradient": func(d, a, b, _ []float32, _ float32) { vecGELUGradient(d, a, b) },
	"Greater":      func(d, a, b, _ []float32, _ float32) { vecGreater(d, a, b) },
	"Log":          func(d, a, _, _ []float32, _ float32) { vecLog(d, a) },
	"Maximum":      func(d, a, b, _ []float32, _ float32) { vecMaximum(d, a, b) },
	"Mul":          func(d, a, b, _ []float32, _ float32) { vecMul(d, a, b) },
	"MulScalar":    func(d, a, _, _ []float32, s float32) { vecMulScalar(d, a, s) },
	"Neg":          func(d, a, _, _ []float32, _ float32) { vecMulScalar(d, a, -1) },
	"PowScalar":    func(d, a, _, _ []float32, s float32) { vecPow(d, a, s) },
	"ReLU":         func(d, a, _, _ []float32, _ float32) { vecReLU(d, a) },
	"ReLUGradient": func(d, a, b, _ []float32, _ float32) { vecReLUGradient(d, a, b) },
	"Sigmoid":      func(d, a, _, _ []float32, _ float32) { vecSigmoid(d, a) },
	"Sqrt":         func(d, a, _, _ []float32, _ float32) { vecSqrt(d, a) },
	"Square":       func(d, a, _, _ []float32, _ float32) { vecMul(d, a, a) },
	"Sub":          func(d, a, b, _ []float32, _ float32) { vecSub(d, a, b) },
	"Tanh":         func(d, a, _, _ []float32, _ float32) { vecTanh(d, a) },
	"Where":        vecWhere,
}

func vecAbs(d, a []float32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = math.Float32frombits(math.Float32bits(a[i]) &^ (1 << 31))
	}
}

func vecAdd(d, a, b []float32) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] + b[i]
	}
}

func vecAddScalar(d, a []float32, s float32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = a[i] + s
	}
}

func vecSub(d, a, b []float32) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] - b[i]
	}
}

func vecMul(d, a, b []float32) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] * b[i]
	}
}

func vecMulScalar(d, a []float32, s float32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = a[i] * s
	}
}

func vecDiv(d, a, b []float32) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] / b[i]
	}
}

func vecMaximum(d, a, b []float32) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = max(a[i], b[i])
	}
}

func vecReLU(d, a []float32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = max(a[i], 0)
	}
}

func vecReLUGradient(d, dy, y []float32) {
	dy, y = dy[:len(d)], y[:len(d)]
	for i := range d {
		v := dy[i]
		if !(y[i] > 0) {
			v = 0
		}
		d[i] = v
	}
}

func vecSqrt(d, a []float32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = float32(math.Sqrt(float64(a[i])))
	}
}

func vecEqual(d, a, b []float32) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		v := float32(0)
		if a[i] == b[i] {
			v = 1
		}
		d[i] = v
	}
}

func vecGreater(d, a, b []float32) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		v := float32(0)
		if a[i] > b[i] {
			v = 1
		}
		d[i] = v
	}
}

func vecWhere(d, m, a, b []float32, _ float32) {
	m, a, b = m[:len(d)], a[:len(d)], b[:len(d)]
	for i := range d {
		v := a[i]
		if m[i] == 0 {
			v = b[i]
		}
		d[i] = v
	}
}

func vecFill(d []float32, s float32) {
	for i := range d {
		d[i] = s
	}
}

func vecExp(d, a []float32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = float32(math.Exp(float64(a[i])))
	}
}

func vecLog(d, a []float32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = float32(math.Log(float64(a[i])))
	}
}

func vecPow(d, a []float32, s float32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = float32(math.Pow(float64(a[i]), float64(s)))
	}
}

func vecTanh(d, a []float32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = float32(math.Tanh(float64(a[i])))
	}
}

func vecSigmoid(d, a []float32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = float32(1 / (1 + math.Exp(-float64(a[i]))))
	}
}

// normal is the distribution function Φ of the standard normal distribution.
func normal(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

func vecGELU(d, a []float32) {
	a = a[:len(d)]
	for i := range d {
		x := float64(a[i])
		if y := x * normal(x); x != 0 && math.IsInf(x, -1) {
			d[i] = 0
		} else {
			d[i] = float32(y)
		}
	}
}

func vecGELUGradient(d, dy, a []float32) {
	dy, a = dy[:len(d)], a[:len(d)]
	for i := range d {
		x := float64(a[i])
		density := math.Exp(-0.5*x*x) / math.Sqrt(2*math.Pi)
		slope := normal(x)
		if density != 0 {
			slope += x * density
		}
		d[i] = float32(float64(dy[i]) * slope)
	}
}
