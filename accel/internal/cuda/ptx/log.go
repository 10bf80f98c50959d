package ptx

import "math"

// log of float32: x = m·2^e with m from ⅔ to 4/3, and log m = 2·artanh(s) with
// s = (m-1)/(m+1), by its series, whose terms beyond s⁹ are too small to see.
func (b *builder) log(x reg) reg {
	// Denormal numbers are made normal.
	tiny := b.when("lt.f32", x, single(math.SmallestNonzeroFloat32*(1<<23)))
	scaled := b.choose(tiny, b.f("mul.rn", x, single(1<<23)), x)
	shift := b.choose(tiny, single(-23), single(0))
	bits := b.op(bits32, "mov.b32", scaled)
	// The exponent is counted from ⅔ on.
	from := b.op(bits32, "sub.s32", bits, word(0x3f2aaaab))
	exponent := b.op(bits32, "and.b32", from, word(-1<<23))
	m := b.op(real32, "mov.b32", b.op(bits32, "sub.s32", bits, exponent))
	e := b.f("fma.rn", b.op(real32, "cvt.rn.f32.s32", exponent), single(1./(1<<23)), shift)
	f := b.f("sub.rn", m, single(1))
	s := b.f("div.rn", f, b.f("add.rn", m, single(1)))
	square := b.f("mul.rn", s, s)
	series := b.f("mul.rn", b.horner(square, 2./9, 2./7, 2./5, 2./3), square)
	// 2s = f - s·f, which keeps the digits of f.
	y := b.f("fma.rn", s, b.f("sub.rn", series, f), f)
	y = b.f("fma.rn", e, single(math.Ln2-0.693359375), y)
	y = b.f("fma.rn", e, single(0.693359375), y)
	y = b.choose(b.when("eq.f32", x, single(math.Inf(1))), x, y)
	y = b.choose(b.when("eq.f32", x, single(0)), single(math.Inf(-1)), y)
	return b.choose(b.when("ltu.f32", x, single(0)), single(math.NaN()), y)
}

// pow is x^y of float32, as math.Pow has it: e^(y·log|x|) in float64, so that the
// product keeps its digits, with a sign where y is odd.
func (b *builder) pow(x, y reg) reg {
	size := b.f("abs", x)
	power := b.roughExp(b.d("mul.rn", b.op(real64, "cvt.f64.f32", y), b.roughLog(size)))
	z := b.op(real32, "cvt.rn.f32.f64", power)
	half := b.f("mul.rn", y, single(.5))
	isWhole := b.when("eq.f32", b.f("cvt.rmi.f32", y), y)
	isEven := b.when("eq.f32", b.f("cvt.rmi.f32", half), half)
	negative := b.when("lt.s32", b.op(bits32, "mov.b32", x), word(0))
	// Below 0 only whole powers are numbers, and odd ones negative.
	odd := b.op(predicate, "and.pred", b.op(predicate, "not.pred", isEven), b.op(predicate, "and.pred", isWhole, negative))
	z = b.choose(odd, b.f("neg", z), z)
	below := b.op(predicate, "and.pred", b.when("lt.f32", x, single(0)), b.when("ne.f32", size, single(math.Inf(1))))
	broken := b.op(predicate, "and.pred", below, b.op(predicate, "not.pred", isWhole))
	z = b.choose(broken, single(math.NaN()), z)
	infinite := b.op(predicate, "and.pred", b.when("eq.f32", size, single(1)), b.when("eq.f32", b.f("abs", y), single(math.Inf(1))))
	one := b.op(predicate, "or.pred", b.when("eq.f32", x, single(1)), b.when("eq.f32", y, single(0)))
	return b.choose(b.op(predicate, "or.pred", one, infinite), single(1), z)
}

// roughLog is the logarithm of a float32 that is not negative, in float64 and to
// eleven digits: as log.
func (b *builder) roughLog(x reg) reg {
	wide := b.op(real64, "cvt.f64.f32", x) // in which denormal numbers are normal
	bits := b.op(bits64, "mov.b64", wide)
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
	y = b.chooseWide(b.op(predicate, "setp.eq.f64", wide, double(math.Inf(1))), wide, y)
	y = b.chooseWide(b.op(predicate, "setp.eq.f64", wide, double(0)), double(math.Inf(-1)), y)
	return b.chooseWide(b.op(predicate, "setp.nan.f64", wide, wide), wide, y)
}

// roughExp is e^x in float64 and to eleven digits, for results that fit a float32.
func (b *builder) roughExp(x reg) reg {
	number := b.op(predicate, "setp.num.f64", x, x)
	y := b.d("max", b.d("min", x, double(200)), double(-200)) // beyond it is 0 or infinite
	n := b.op(real64, "cvt.rni.f64.f64", b.d("mul.rn", y, double(log2e)))
	r := b.d("fma.rn", n, double(-math.Ln2), y)
	series := double(1. / 3628800)
	for _, c := range []float64{1. / 362880, 1. / 40320, 1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1, 1} {
		series = b.d("fma.rn", series, r, double(c))
	}
	// 2^n by its bits.
	power := b.op(bits64, "add.s64", b.op(bits64, "cvt.rni.s64.f64", n), "1023")
	power = b.op(bits64, "shl.b64", power, "52")
	return b.chooseWide(number, b.d("mul.rn", series, b.op(real64, "mov.b64", power)), x)
}
