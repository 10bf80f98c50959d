package ptx

import "math"

// log computes the logarithm. That of float32: x = m·2^e with m from ⅔ to 4/3, and
// log m = 2·artanh(s) with s = (m-1)/(m+1), by its series. The terms after s⁹ are below the
// precision of float32.
func (b *builder) log(x reg) reg {
	if b.double {
		return b.log64(x)
	}
	// Scale denormal numbers to normal ones.
	tiny := b.setp("lt.f32", x, single(math.SmallestNonzeroFloat32*(1<<23)))
	scaled := b.selp(tiny, b.f("mul.rn", x, single(1<<23)), x)
	shift := b.selp(tiny, single(-23), single(0))
	bits := b.op(bits32, "mov.b32", scaled)
	// Take the exponent relative to ⅔.
	from := b.op(bits32, "sub.s32", bits, word(0x3f2aaaab))
	exponent := b.op(bits32, "and.b32", from, word(-1<<23))
	m := b.op(real32, "mov.b32", b.op(bits32, "sub.s32", bits, exponent))
	e := b.f("fma.rn", b.op(real32, "cvt.rn.f32.s32", exponent), single(1./(1<<23)), shift)
	f := b.f("sub.rn", m, single(1))
	s := b.f("div.rn", f, b.f("add.rn", m, single(1)))
	square := b.f("mul.rn", s, s)
	series := b.f("mul.rn", b.horner(square, 2./9, 2./7, 2./5, 2./3), square)
	// 2s = f - s·f keeps the digits of f.
	y := b.f("fma.rn", s, b.f("sub.rn", series, f), f)
	y = b.f("fma.rn", e, single(math.Ln2-0.693359375), y)
	y = b.f("fma.rn", e, single(0.693359375), y)
	return b.logOf(x, y)
}

// logOf returns y for a positive finite x, else the logarithm of that special case.
func (b *builder) logOf(x, y reg) reg {
	y = b.selp(b.compare("eq", x, b.constant(math.Inf(1))), x, y)
	y = b.selp(b.compare("eq", x, b.constant(0)), b.constant(math.Inf(-1)), y)
	return b.selp(b.compare("ltu", x, b.constant(0)), b.constant(math.NaN()), y)
}

// pow computes x^y with the special cases of math.Pow, from the power of |x|. That of float32
// is e^(y·log|x|) in float64, so that y·log|x| keeps its digits.
func (b *builder) pow(x, y reg) reg {
	size := b.real("abs", x)
	var z reg
	if b.double {
		z = b.pow64(size, y)
	} else {
		power := b.roughExp(b.d("mul.rn", b.op(real64, "cvt.f64.f32", y), b.roughLog(size)))
		z = b.op(real32, "cvt.rn.f32.f64", power)
	}
	half := b.real("mul.rn", y, b.constant(.5))
	isWhole := b.compare("eq", b.floor(y), y)
	isEven := b.compare("eq", b.floor(half), half)
	negative := b.negative(x)
	// A negative base has real powers for whole exponents only; odd ones are negative.
	odd := b.op(predicate, "and.pred", b.op(predicate, "not.pred", isEven), b.op(predicate, "and.pred", isWhole, negative))
	z = b.selp(odd, b.real("neg", z), z)
	below := b.op(predicate, "and.pred", b.compare("lt", x, b.constant(0)), b.compare("ne", size, b.constant(math.Inf(1))))
	broken := b.op(predicate, "and.pred", below, b.op(predicate, "not.pred", isWhole))
	z = b.selp(broken, b.constant(math.NaN()), z)
	if b.double {
		z = b.orNaN(b.orNaN(z, x), y)
	}
	infinite := b.op(predicate, "and.pred", b.compare("eq", size, b.constant(1)), b.compare("eq", b.real("abs", y), b.constant(math.Inf(1))))
	one := b.op(predicate, "or.pred", b.compare("eq", x, b.constant(1)), b.compare("eq", y, b.constant(0)))
	return b.selp(b.op(predicate, "or.pred", one, infinite), b.constant(1), z)
}

// negative reports whether the sign of x is set, as that of -0 is.
func (b *builder) negative(x reg) reg {
	if b.double {
		return b.setp("lt.s64", b.op(bits64, "mov.b64", x), "0")
	}
	return b.setp("lt.s32", b.op(bits32, "mov.b32", x), word(0))
}

// roughLog computes the logarithm of a non-negative float32 in float64, to eleven digits, as
// log does.
func (b *builder) roughLog(x reg) reg {
	x64 := b.op(real64, "cvt.f64.f32", x) // float32 denormal numbers are normal in float64
	bits := b.op(bits64, "mov.b64", x64)
	exponent := b.op(bits64, "and.b64", b.op(bits64, "sub.s64", bits, "0x3fe5555555555555"), "0xfff0000000000000")
	m := b.op(real64, "mov.b64", b.op(bits64, "sub.s64", bits, exponent))
	e := b.d("mul.rn", b.op(real64, "cvt.rn.f64.s64", exponent), double(1./(1<<52)))
	f := b.d("sub.rn", m, double(1))
	s := b.d("div.rn", f, b.d("add.rn", m, double(1)))
	square := b.d("mul.rn", s, s)
	series := double(2. / 15)
	for _, c := range []float64{2. / 13, 2. / 11, 2. / 9, 2. / 7, 2. / 5, 2. / 3, 2} {
		series = b.d("fma.rn", series, square, double(c))
	}
	y := b.d("fma.rn", e, double(math.Ln2), b.d("mul.rn", s, series))
	y = b.selp64(b.op(predicate, "setp.eq.f64", x64, double(math.Inf(1))), x64, y)
	y = b.selp64(b.op(predicate, "setp.eq.f64", x64, double(0)), double(math.Inf(-1)), y)
	return b.selp64(b.op(predicate, "setp.nan.f64", x64, x64), x64, y)
}

// roughExp computes e^x in float64, to eleven digits, for results that fit a float32.
func (b *builder) roughExp(x reg) reg {
	number := b.op(predicate, "setp.num.f64", x, x)
	y := b.d("max", b.d("min", x, double(200)), double(-200)) // outside this range the result is 0 or infinite
	n := b.op(real64, "cvt.rni.f64.f64", b.d("mul.rn", y, double(log2e)))
	r := b.d("fma.rn", n, double(-math.Ln2), y)
	series := double(1. / 3628800)
	for _, c := range []float64{1. / 362880, 1. / 40320, 1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1, 1} {
		series = b.d("fma.rn", series, r, double(c))
	}
	// Build 2^n from its bits.
	power := b.op(bits64, "add.s64", b.op(bits64, "cvt.rni.s64.f64", n), "1023")
	power = b.op(bits64, "shl.b64", power, "52")
	return b.selp64(number, b.d("mul.rn", series, b.op(real64, "mov.b64", power)), x)
}
