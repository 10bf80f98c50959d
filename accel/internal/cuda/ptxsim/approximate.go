package ptxsim

import "math"

// approximateOperations are functions with a hardware approximation.
var approximateOperations = map[string]func(*operation) step{
	"rcp": compileRcp, "sqrt": compileSqrt, "rsqrt": compileRsqrt,
	"sin": compileSin, "cos": compileCos, "ex2": compileEx2, "lg2": compileLg2, "tanh": compileTanh,
}

// function compiles an instruction of a function of one value.
func (o *operation) function(a *arithmetic, f func(x float64) float64) step {
	g := a.pairwise(func(x, _, _ uint64) uint64 { return a.out(f(a.in(x))) })
	return o.unary(a.t, func(x uint64) uint64 { return g(x, 0, 0) })
}

// approximate reads .approx[.ftz].type.
func (o *operation) approximate(names ...string) *arithmetic {
	o.need("approx")
	a := &arithmetic{mode: toNearest, flush: o.has("ftz")}
	a.t = o.typ(names...)
	a.format = formatOf(a.t)
	return a
}

func compileRcp(o *operation) step {
	if len(o.mods) > 0 && o.mods[0] == "approx" {
		a := o.approximate("f32", "f64")
		if a.t.name == "f64" {
			return o.function(a, func(x float64) float64 { return coarse64(1 / x) })
		}
		return o.function(a, func(x float64) float64 { return 1 / x })
	}
	a := o.arithmetic()
	if a.t.name == "f64" {
		return o.function(a, func(x float64) float64 { return 1 / x })
	}
	return o.function(a, func(x float64) float64 { return exactQuotient(1, x) })
}

// coarse64 clears the low half, as the approximations of f64 do.
func coarse64(v float64) float64 {
	if v != v {
		return v
	}
	return math.Float64frombits(math.Float64bits(v) >> 32 << 32)
}

func compileSqrt(o *operation) step {
	if len(o.mods) > 0 && o.mods[0] == "approx" {
		return o.function(o.approximate("f32"), math.Sqrt)
	}
	a := o.arithmetic()
	if a.t.name == "f64" {
		return o.function(a, math.Sqrt)
	}
	return o.function(a, exactRoot)
}

func compileRsqrt(o *operation) step {
	a := o.approximate("f32", "f64")
	if a.t.name == "f64" {
		return o.function(a, func(x float64) float64 { return coarse64(1 / math.Sqrt(x)) })
	}
	return o.function(a, func(x float64) float64 { return 1 / math.Sqrt(x) })
}

func compileSin(o *operation) step { return o.function(o.approximate("f32"), math.Sin) }
func compileCos(o *operation) step { return o.function(o.approximate("f32"), math.Cos) }

// compileEx2 computes a result that is off by the 2⁻²² that the manual guarantees at most,
// up or down depending on the argument's bits, so that tests do not expect more of a GPU.
// Powers with integer exponents are exact: the hardware looks up the factor of the
// fraction.
func compileEx2(o *operation) step {
	a := o.approximate("f32", "f16", "f16x2", "bf16", "bf16x2")
	if a.t.name != "f32" {
		return o.function(a, math.Exp2)
	}
	return o.function(a, func(x float64) float64 {
		y := math.Exp2(x)
		if x == math.Trunc(x) || y != y {
			return y
		}
		off := math.Ldexp(1, -22)
		if bits := math.Float32bits(float32(x)); bits*0x9e3779b9>>31 == 0 {
			off = -off
		}
		// Rounding to float32 must not add to the error.
		return y + y*off*(1-math.Ldexp(1, -2))
	})
}

func compileLg2(o *operation) step { return o.function(o.approximate("f32"), math.Log2) }

// compileTanh rounds to the 11 bits that the manual guarantees, so that tests do not expect
// more of a GPU.
func compileTanh(o *operation) step {
	a := o.approximate("f32", "f16", "f16x2", "bf16", "bf16x2")
	return o.function(a, func(x float64) float64 {
		y := math.Tanh(x)
		if y == 0 || y != y {
			return y
		}
		m, e := math.Frexp(y)
		return math.Ldexp(math.RoundToEven(m*(1<<11))/(1<<11), e)
	})
}
