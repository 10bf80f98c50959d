package ptx

import "math"

// log2e is the logarithm of e to base 2.
const log2e = 1 / math.Ln2

// exp computes e^x. That of float32: x = n·ln 2 + r with an integer n, so e^x = 2^n · 2^(r·log2 e).
// The GPU's ex2.approx is accurate where |y| ≤ ½. ln 2 is split into two parts; n times the
// first one is exact.
func (b *builder) exp(x reg) reg {
	if b.double {
		return b.exp64(x)
	}
	const (
		upper = 0.693359375 // ten bits
		lower = math.Ln2 - upper
	)
	x = b.f("max.NaN", b.f("min.NaN", x, single(200)), single(-200)) // outside this range the result is 0 or infinite
	n := b.f("cvt.rni.f32", b.f("mul.rn", x, single(log2e)))
	r := b.f("fma.rn", n, single(-upper), x)
	r = b.f("fma.rn", n, single(-lower), r)
	y := b.f("ex2.approx", b.f("mul.rn", r, single(log2e)))
	// 2^n may overflow where e^x does not, so it is applied in two steps.
	half := b.f("cvt.rmi.f32", b.f("mul.rn", n, single(.5)))
	y = b.f("mul.rn", y, b.f("ex2.approx", half))
	return b.f("mul.rn", y, b.f("ex2.approx", b.f("sub.rn", n, half)))
}

// expm1 computes e^x - 1, that of float32 near 0 by its series, where the subtraction would lose
// digits.
func (b *builder) expm1(x reg) reg {
	if b.double {
		return b.expm1Float64(x)
	}
	near := b.horner(x, 1./3628800, 1./362880, 1./40320, 1./5040, 1./720, 1./120, 1./24, 1./6, 1./2, 1)
	near = b.f("mul.rn", near, x)
	far := b.f("sub.rn", b.exp(x), single(1))
	return b.selp(b.setp("lt.f32", b.f("abs", x), single(.7)), near, far)
}

// logistic computes 1/(1+e^-x). Below 0, where that would overflow, it computes
// e^x/(1+e^x).
func (b *builder) logistic(x reg) reg {
	if b.double {
		return b.logistic64(x)
	}
	e := b.exp(b.f("neg", b.f("abs", x)))
	y := b.f("rcp.rn", b.f("add.rn", e, single(1)))
	return b.selp(b.setp("lt.f32", x, single(0)), b.f("mul.rn", e, y), y)
}

// tanh computes 1 - 2/(e^2x + 1), for float32 near 0 by its series.
func (b *builder) tanh(x reg) reg {
	if b.double {
		return b.tanh64(x)
	}
	square := b.f("mul.rn", x, x)
	near := b.horner(square, -1382./155925, 62./2835, -17./315, 2./15, -1./3)
	near = b.f("fma.rn", b.f("mul.rn", near, square), x, x)
	far := b.exp(b.f("add.rn", x, x))
	far = b.f("div.rn", single(2), b.f("add.rn", far, single(1)))
	far = b.f("sub.rn", single(1), far)
	return b.selp(b.setp("lt.f32", b.f("abs", x), single(.3)), near, far)
}

// normal computes the cumulative normal distribution function Φ. For float32, with
// t = |x|/√2 it is ½·erfc(t) = ½·e^(-t²)·p(1/(1+t/2)) for negative x, and 1 minus that
// otherwise. p was fitted to erfcx for t from 0 to 11 by weighted least squares, to within
// 4e-8 of its value; for larger t, e^(-t²) is 0.
func (b *builder) normal(x reg) reg {
	if b.double {
		return b.normal64(x)
	}
	t := b.f("mul.rn", b.f("abs", x), single(1/math.Sqrt2))
	q := b.f("rcp.rn", b.f("fma.rn", t, single(.5), single(1)))
	p := b.horner(q, -0.05649569660190564, 0.2714004896180982, -0.4582271511071928, 0.24226594245694902, 0.000670544573916354,
		0.18941920899584205, 0.2472001887911886, 0.28160309216550417, 0.2821668709584521, -3.5253532771895024e-06)
	tail := b.f("mul.rn", b.f("mul.rn", p, single(.5)), b.gaussian(x))
	return b.selp(b.setp("lt.f32", x, single(0)), tail, b.f("sub.rn", single(1), tail))
}

// erf computes the error function: near 0 by its series, or in float64 by the rational function of
// nearErf64, elsewhere as 1 - 2·Φ(-√2·|x|) with the sign of x.
func (b *builder) erf(x reg) reg {
	size := b.real("abs", x)
	square := b.real("mul.rn", size, size)
	far := b.normal(b.real("mul.rn", size, b.constant(-math.Sqrt2)))
	far = b.real("fma.rn", far, b.constant(-2), b.constant(1))
	var near reg
	if b.double {
		near = b.nearErf64(size, square)
	} else {
		const factor = 2 / 1.7724538509055159 // √π
		near = b.horner(square, factor/9360, -factor/1320, factor/216, -factor/42, factor/10, -factor/3, factor)
		near = b.f("mul.rn", near, size)
	}
	y := b.selp(b.compare("lt", size, b.choose(.5, .84375)), near, far)
	return b.real("copysign", x, y)
}

// gaussian computes e^(-x²/2), corrected by the rounding error of x².
func (b *builder) gaussian(x reg) reg {
	p := b.twoProduct(x, b.real("mul.rn", x, b.constant(.5)))
	y := b.exp(b.real("neg", p.high))
	corrected := b.real("fma.rn", y, b.real("neg", p.low), y)
	// An infinite square has no rounding error to correct.
	return b.selp(b.compare("gt", p.high, b.choose(110, 750)), b.constant(0), corrected)
}

// gelu computes x·Φ(x), which is 0 at -∞.
func (b *builder) gelu(x reg) reg {
	y := b.real("mul.rn", x, b.normal(x))
	return b.selp(b.compare("lt", x, b.choose(-15, -39)), b.constant(0), y)
}

// geluSlope computes the derivative of gelu: Φ(x) + x·φ(x).
func (b *builder) geluSlope(x reg) reg {
	density := b.real("mul.rn", b.gaussian(x), b.constant(1/math.Sqrt(2*math.Pi)))
	y := b.normal(x)
	sloped := b.real("fma.rn", x, density, y)
	return b.selp(b.compare("eq", density, b.constant(0)), y, sloped)
}
