package ptx

import "math"

// log2e is the logarithm of e to base 2.
const log2e = 1 / math.Ln2

// exp is e^x of float32: x = n·ln 2 + r with n whole, so that e^x = 2^n · 2^(r·log2 e),
// and the processor's own 2^y is accurate where |y| ≤ ½. ln 2 is in two parts, of
// which n times the first is exact.
func (b *builder) exp(x reg) reg {
	const (
		upper = 0.693359375 // ten bits
		lower = math.Ln2 - upper
	)
	x = b.f("max.NaN", b.f("min.NaN", x, single(200)), single(-200)) // beyond it is 0 or infinite
	n := b.f("cvt.rni.f32", b.f("mul.rn", x, single(log2e)))
	r := b.f("fma.rn", n, single(-upper), x)
	r = b.f("fma.rn", n, single(-lower), r)
	y := b.f("ex2.approx", b.f("mul.rn", r, single(log2e)))
	// 2^n may overflow where e^x does not.
	half := b.f("cvt.rmi.f32", b.f("mul.rn", n, single(.5)))
	y = b.f("mul.rn", y, b.f("ex2.approx", half))
	return b.f("mul.rn", y, b.f("ex2.approx", b.f("sub.rn", n, half)))
}

// expm1 is e^x - 1 of float32: its series near 0, where the difference would lose
// digits.
func (b *builder) expm1(x reg) reg {
	near := b.horner(x, 1./40320, 1./5040, 1./720, 1./120, 1./24, 1./6, 1./2, 1)
	near = b.f("mul.rn", near, x)
	far := b.f("sub.rn", b.exp(x), single(1))
	return b.choose(b.when("lt.f32", b.f("abs", x), single(.35)), near, far)
}

// horner is a polynomial in x, the coefficient of the highest power first.
func (b *builder) horner(x reg, coefficients ...float64) reg {
	y := single(coefficients[0])
	for _, c := range coefficients[1:] {
		y = b.f("fma.rn", y, x, single(c))
	}
	return y
}

// logistic is 1/(1+e^-x) of float32, and e^x/(1+e^x) below 0, where the former
// would overflow.
func (b *builder) logistic(x reg) reg {
	e := b.exp(b.f("neg", b.f("abs", x)))
	y := b.f("rcp.rn", b.f("add.rn", e, single(1)))
	return b.choose(b.when("lt.f32", x, single(0)), b.f("mul.rn", e, y), y)
}

// tanh of float32 is 1 - 2/(e^2x + 1), and its series near 0.
func (b *builder) tanh(x reg) reg {
	square := b.f("mul.rn", x, x)
	near := b.horner(square, -1382./155925, 62./2835, -17./315, 2./15, -1./3)
	near = b.f("fma.rn", b.f("mul.rn", near, square), x, x)
	far := b.exp(b.f("add.rn", x, x))
	far = b.f("div.rn", single(2), b.f("add.rn", far, single(1)))
	far = b.f("sub.rn", single(1), far)
	return b.choose(b.when("lt.f32", b.f("abs", x), single(.3)), near, far)
}

// bell is e^(-x²/2) of float32, with what rounding the square lost.
func (b *builder) bell(x reg) reg {
	half := b.f("mul.rn", x, single(.5))
	square := b.f("mul.rn", x, half)
	lost := b.f("fma.rn", x, half, b.f("neg", square))
	y := b.exp(b.f("neg", square))
	corrected := b.f("fma.rn", y, b.f("neg", lost), y)
	// Of an infinite square nothing was lost.
	return b.choose(b.when("gt.f32", square, single(110)), single(0), corrected)
}

// normal is the normal distribution function of float32: with t = |x|/√2 it is
// ½·erfc(t) = ½·e^(-t²)·p(1/(1+t/2)) for negative x, and one less that for others.
// p was fitted to erfcx for t from 0 to 11 by weighted least squares, to within
// 4e-8 of its value; beyond, e^(-t²) is 0.
func (b *builder) normal(x reg) reg {
	t := b.f("mul.rn", b.f("abs", x), single(1/math.Sqrt2))
	q := b.f("rcp.rn", b.f("fma.rn", t, single(.5), single(1)))
	p := b.horner(q, -0.05649569660190564, 0.2714004896180982, -0.4582271511071928, 0.24226594245694902, 0.000670544573916354,
		0.18941920899584205, 0.2472001887911886, 0.28160309216550417, 0.2821668709584521, -3.5253532771895024e-06)
	tail := b.f("mul.rn", b.f("mul.rn", p, single(.5)), b.bell(x))
	return b.choose(b.when("lt.f32", x, single(0)), tail, b.f("sub.rn", single(1), tail))
}

// gelu is x times the normal distribution function, 0 at -∞.
func (b *builder) gelu(x reg) reg {
	y := b.f("mul.rn", x, b.normal(x))
	return b.choose(b.when("lt.f32", x, single(-15)), single(0), y)
}

// geluSlope is the derivative of gelu: Φ(x) + x·φ(x).
func (b *builder) geluSlope(x reg) reg {
	density := b.f("mul.rn", b.bell(x), single(1/math.Sqrt(2*math.Pi)))
	y := b.normal(x)
	sloped := b.f("fma.rn", x, density, y)
	return b.choose(b.when("eq.f32", density, single(0)), y, sloped)
}
