package cpu

import "math"

// scalarOps are the elementwise ops on one element, by name. a, b and c are the inputs and
// s is the scalar. They implement ops on float64, and, rounded, ops on float32 that are not
// in elementwiseOps.
var scalarOps = map[string]func(a, b, c, s float64) float64{
	"Abs":          func(a, _, _, _ float64) float64 { return math.Abs(a) },
	"Add":          func(a, b, _, _ float64) float64 { return a + b },
	"AddScalar":    func(a, _, _, s float64) float64 { return a + s },
	"And":          func(a, b, _, _ float64) float64 { return mask(a != 0 && b != 0) },
	"AtLeast":      func(a, _, _, s float64) float64 { return max(a, s) },
	"AtMost":       func(a, _, _, s float64) float64 { return min(a, s) },
	"Cos":          func(a, _, _, _ float64) float64 { return math.Cos(a) },
	"Div":          func(a, b, _, _ float64) float64 { return a / b },
	"ELU":          func(a, _, _, s float64) float64 { return elu(a, s) },
	"Exp":          func(a, _, _, _ float64) float64 { return math.Exp(a) },
	"Fill":         func(_, _, _, s float64) float64 { return s },
	"Floor":        func(a, _, _, _ float64) float64 { return math.Floor(a) },
	"GELU":         func(a, _, _, _ float64) float64 { return geluScalar(a) },
	"GELUGradient": func(a, b, _, _ float64) float64 { return a * geluSlopeScalar(b) },
	"LeakyReLU":    func(a, _, _, s float64) float64 { return leaky(a, s) },
	"Log":          func(a, _, _, _ float64) float64 { return math.Log(a) },
	"Maximum":      func(a, b, _, _ float64) float64 { return max(a, b) },
	"Minimum":      func(a, b, _, _ float64) float64 { return min(a, b) },
	"Mul":          func(a, b, _, _ float64) float64 { return a * b },
	"MulScalar":    func(a, _, _, s float64) float64 { return a * s },
	"Neg":          func(a, _, _, _ float64) float64 { return -a },
	"Not":          func(a, _, _, _ float64) float64 { return mask(a == 0) },
	"Or":           func(a, b, _, _ float64) float64 { return mask(a != 0 || b != 0) },
	"Pow":          func(a, b, _, _ float64) float64 { return math.Pow(a, b) },
	"PowScalar":    func(a, _, _, s float64) float64 { return math.Pow(a, s) },
	"ReLU":         func(a, _, _, _ float64) float64 { return max(a, 0) },
	"ReLUGradient": func(a, b, _, _ float64) float64 { return where1(b > 0, a, 0) },
	"SiLU":         func(a, _, _, _ float64) float64 { return a * logistic(a) },
	"Sigmoid":      func(a, _, _, _ float64) float64 { return logistic(a) },
	"Sin":          func(a, _, _, _ float64) float64 { return math.Sin(a) },
	"Sqrt":         func(a, _, _, _ float64) float64 { return math.Sqrt(a) },
	"Square":       func(a, _, _, _ float64) float64 { return a * a },
	"Sub":          func(a, b, _, _ float64) float64 { return a - b },
	"Tanh":         func(a, _, _, _ float64) float64 { return math.Tanh(a) },
	"Where":        func(a, b, c, _ float64) float64 { return where1(a != 0, b, c) },
}

func mask(b bool) float64 { return where1(b, 1, 0) }

func where1(b bool, yes, no float64) float64 {
	if b {
		return yes
	}
	return no
}

func elu(x, scale float64) float64 {
	if x > 0 {
		return x
	}
	return scale * math.Expm1(x)
}

func leaky(x, slope float64) float64 {
	if x > 0 {
		return x
	}
	return slope * x
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func geluScalar(x float64) float64 {
	if math.IsInf(x, -1) {
		return 0
	}
	return x * normal(x)
}

func geluSlopeScalar(x float64) float64 {
	density := math.Exp(-0.5*x*x) / math.Sqrt(2*math.Pi)
	if density == 0 {
		return normal(x)
	}
	return normal(x) + x*density
}

// silu uses the vectorized logistic function block by block, because d may be a.
func silu(v *vectors, d, a []float32) {
	var t [256]float32
	for len(d) > 0 {
		n := min(len(d), len(t))
		v.sigmoid(t[:n], a[:n])
		v.mul(d[:n], a[:n], t[:n])
		d, a = d[n:], a[n:]
	}
}

// scalarLoop returns a float32 elementwise op from one of scalarOps.
func scalarLoop(f func(a, b, c, s float64) float64) elementwise {
	return func(_ *vectors, d, a, b, c []float32, s float32) {
		for i := range d {
			var x, y, z float64
			if a != nil {
				x = float64(a[i])
			}
			if b != nil {
				y = float64(b[i])
			}
			if c != nil {
				z = float64(c[i])
			}
			d[i] = float32(f(x, y, z, float64(s)))
		}
	}
}
