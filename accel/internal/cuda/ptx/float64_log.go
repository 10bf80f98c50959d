package ptx

import "math"

// split returns e and m for a positive x = m·2^e with m from √½ to √2.
func (b *builder) split(x reg) (e, m reg) {
	tiny := b.setp("lt.f64", x, double(0x1p-1022)) // scale denormal numbers to normal ones
	normal := b.selp64(tiny, b.d("mul.rn", x, double(1<<54)), x)
	shift := b.selp64(tiny, double(-54), double(0))
	bits := b.op(bits64, "mov.b64", normal)
	from := b.op(bits64, "sub.s64", bits, "0x3fe6a09e667f3bcd") // √½
	m = b.op(real64, "mov.b64", b.op(bits64, "sub.s64", bits, b.op(bits64, "and.b64", from, "0xfff0000000000000")))
	e = b.d("add.rn", b.op(real64, "cvt.rn.f64.s64", b.op(bits64, "shr.s64", from, "52")), shift)
	return e, m
}

// Three parts of ln 2. The first has so few digits that e times it is exact.
const (
	upperLn2 = 6.93147180369123816490e-01
	restLn2  = 1.90821492927058770002e-10
	lastLn2  = 1.1612227229362532e-26
)

// log64 computes the logarithm of float64: log m = 2·artanh(s), s = f/(2+f), f = m-1. The
// polynomial is that of FreeBSD's e_log.c (Sun Microsystems, 1993).
func (b *builder) log64(x reg) reg {
	e, m := b.split(x)
	f := b.d("sub.rn", m, double(1))
	s := b.d("div.rn", f, b.d("add.rn", f, double(2)))
	z := b.d("mul.rn", s, s)
	r := b.d("mul.rn", z, b.horner(z, 1.479819860510058591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
		2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01))
	half := b.d("mul.rn", b.d("mul.rn", double(.5), f), f)
	y := b.d("fma.rn", s, b.d("add.rn", half, r), b.d("mul.rn", e, double(restLn2)))
	y = b.d("sub.rn", b.d("sub.rn", half, y), f)
	return b.logOf(x, b.d("sub.rn", b.d("mul.rn", e, double(upperLn2)), y))
}

// logDD computes the logarithm of a positive number, accurate to 2⁻⁶⁶: as log64, by the series of
// artanh.
func (b *builder) logDD(x reg) doubleDouble {
	e, m := b.split(x)
	f := b.d("sub.rn", m, double(1)) // exact
	larger := b.setp("gt.f64", m, double(1))
	d := b.fastTwoSum(b.selp64(larger, m, double(1)), b.selp64(larger, double(1), m)) // m+1
	// s = f/(m+1), with the remainder of the division in its low part.
	high := b.d("div.rn", f, d.high)
	minus := b.d("neg", high)
	left := b.d("fma.rn", minus, d.low, b.d("fma.rn", minus, d.high, f))
	s := doubleDouble{high, b.d("div.rn", left, d.high)}
	z := b.mulDD(s, s)
	series := make([]float64, 0, 12)
	for k := 27; k >= 5; k -= 2 {
		series = append(series, 1/float64(k))
	}
	tail := b.d("mul.rn", z.high, b.horner(z.high, series...))
	third := b.addDD(doubleDouble{double(1. / 3), double(1.850371707708594e-17)}, doubleDouble{tail, double(0)})
	// log m = 2·(s + s·z·third).
	y := b.addDD(s, b.mulDD(b.mulDD(s, z), third))
	y = doubleDouble{b.d("add.rn", y.high, y.high), b.d("add.rn", y.low, y.low)}
	whole := b.fastTwoSum(b.d("mul.rn", e, double(upperLn2)), b.d("mul.rn", e, double(restLn2)))
	whole.low = b.d("fma.rn", e, double(lastLn2), whole.low)
	both := b.addDD(whole, y)
	none := b.setp("eq.f64", e, double(0))
	return doubleDouble{b.selp64(none, y.high, both.high), b.selp64(none, y.low, both.low)}
}

// pow64 computes size^y of float64 for size ≥ 0. y·log(size) is kept as a doubleDouble.
func (b *builder) pow64(size, y reg) reg {
	l := b.logDD(size)
	p := b.twoProduct(y, l.high)
	low := b.d("fma.rn", y, l.low, p.low)
	// Where the result or the logarithm is 0 or infinite, there is no low part.
	known := b.logOf(size, l.high)
	high := b.d("mul.rn", y, known)
	low = b.selp64(b.setp("lt.f64", b.d("abs", high), double(800)), low, double(0))
	z := b.exp64(high)
	// e^(high+low) = e^high·(1+low)
	return b.selp64(b.setp("eq.f64", b.d("abs", z), double(math.Inf(1))), z, b.d("fma.rn", z, low, z))
}
