package ptx

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"sync"
)

// sine64 computes the sine of float64. quarters is added in quarter turns: 1 gives the cosine.
// The polynomials are those of FreeBSD's k_sin.c and k_cos.c (Sun Microsystems, 1993).
func (b *builder) sine64(x reg, quarters int) reg {
	r, n := b.reduceAngle64(x)
	n = b.op(bits64, "add.s64", n, word(quarters))
	z := b.d("mul.rn", r.high, r.high)
	cube := b.d("mul.rn", z, r.high)
	series := b.horner(z, 1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06, -1.98412698298579493134e-04, 8.33333333332248946124e-03)
	sine := b.d("sub.rn", b.d("mul.rn", double(.5), r.low), b.d("mul.rn", cube, series))
	sine = b.d("sub.rn", b.d("mul.rn", z, sine), r.low)
	sine = b.d("sub.rn", r.high, b.d("sub.rn", sine, b.d("mul.rn", cube, double(-1.66666666666666324348e-01))))

	series = b.horner(z, -1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07, 2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02)
	series = b.d("mul.rn", z, series)
	half := b.d("mul.rn", double(.5), z)
	w := b.d("sub.rn", double(1), half)
	left := b.d("sub.rn", b.d("sub.rn", double(1), w), half)
	cosine := b.d("sub.rn", b.d("mul.rn", z, series), b.d("mul.rn", r.high, r.low))
	cosine = b.d("add.rn", w, b.d("add.rn", left, cosine))

	bit := func(mask string) reg { return b.setp("ne.s64", b.op(bits64, "and.b64", n, reg(mask)), "0") }
	y := b.selp64(bit("1"), cosine, sine)
	y = b.selp64(bit("2"), b.d("neg", y), y)
	return b.selp64(b.setp("lt.f64", b.d("abs", x), double(math.Inf(1))), y, double(math.NaN()))
}

// reduceAngle64 returns r = x - n·π/2, in [-π/4, π/4] and as two float64, and n, of which only
// the last two bits matter (Payne and Hanek, Radian Reduction for Trigonometric Functions,
// 1983). With x = m·2^e and an integer m, 192 bits of 2/π are enough: those from the first
// bit whose product with m is not a multiple of four quarter turns.
func (b *builder) reduceAngle64(x reg) (r doubleDouble, n reg) {
	b.tables["quarters"] = quarters()
	bits := b.op(bits64, "mov.b64", b.d("abs", x))
	m := b.op(bits64, "or.b64", b.op(bits64, "and.b64", bits, "0xfffffffffffff"), "0x10000000000000")
	// The first bit of the table has weight 2^(1-e); leadingZeros bits come before the point.
	at := b.op(bits64, "add.s64", b.op(bits64, "shr.u64", bits, "52"), word(leadingZeros-1023-54))
	at = b.op(bits64, "min.s64", b.op(bits64, "max.s64", at, "0"), word(maxQuarterBit))
	address := b.op(bits64, "mad.lo.s64", b.op(bits64, "shr.u64", at, "6"), "8", b.op(bits64, "mov.u64", "quarters"))
	shift := b.op(bits32, "cvt.u32.u64", b.op(bits64, "and.b64", at, "63"))
	back := b.op(bits32, "sub.s32", word(64), shift)
	var words [4]reg
	for i := range words {
		words[i] = b.op(bits64, "ld.const.u64", reg(fmt.Sprintf("[%s+%d]", address, 8*i)))
	}
	var w [3]reg // in PTX a shift by 64 gives 0
	for i := range w {
		w[i] = b.op(bits64, "or.b64", b.op(bits64, "shl.b64", words[i], shift), b.op(bits64, "shr.u64", words[i+1], back))
	}
	// The low 192 bits of m times these words, without the last word.
	second := b.op(bits64, "mul.lo.u64", m, w[1])
	low := b.op(bits64, "add.s64", second, b.op(bits64, "mul.hi.u64", m, w[2]))
	carry := b.setp("lt.u64", low, second)
	high := b.op(bits64, "add.s64", b.op(bits64, "mul.lo.u64", m, w[0]), b.op(bits64, "mul.hi.u64", m, w[1]))
	high = b.op(bits64, "add.s64", high, b.op(bits64, "selp.b64", "1", "0", carry))
	// The top two bits count quarter turns; the rest is a signed fraction of one.
	n = b.op(bits64, "shr.u64", high, "62")
	high = b.op(bits64, "or.b64", b.op(bits64, "shl.b64", high, "2"), b.op(bits64, "shr.u64", low, "62"))
	low = b.op(bits64, "shl.b64", low, "2")
	n = b.op(bits64, "add.s64", n, b.op(bits64, "shr.u64", high, "63"))

	first := b.op(real64, "cvt.rn.f64.s64", high)
	// The rounding error of the first 64 bits. The largest values round to 2⁶³, which is not an
	// int64, so that result is set by its bits.
	top := b.setp("eq.f64", first, double(0x1p63))
	whole := b.op(bits64, "cvt.rzi.s64.f64", b.selp64(top, double(0), first))
	whole = b.op(bits64, "selp.b64", "0x8000000000000000", whole, top)
	rest := b.op(bits64, "sub.s64", high, whole)
	tail := b.d("mul.rn", b.op(real64, "cvt.rn.f64.u64", low), double(0x1p-64))
	tail = b.d("add.rn", b.op(real64, "cvt.rn.f64.s64", rest), tail)
	fraction := b.fastTwoSum(b.d("mul.rn", first, double(0x1p-64)), b.d("mul.rn", tail, double(0x1p-64)))
	r = b.mulDD(fraction, doubleDouble{double(math.Pi / 2), double(6.123233995736766e-17)})

	// For a negative x, negate the results.
	negative := b.negative(x)
	r = doubleDouble{b.selp64(negative, b.d("neg", r.high), r.high), b.selp64(negative, b.d("neg", r.low), r.low)}
	n = b.op(bits64, "selp.b64", b.op(bits64, "neg.s64", n), n, negative)
	near := b.setp("lt.f64", b.d("abs", x), double(math.Pi/4))
	return doubleDouble{b.selp64(near, x, r.high), b.selp64(near, double(0), r.low)}, b.op(bits64, "selp.b64", "0", n, near)
}

const (
	leadingZeros  = 64
	maxQuarterBit = 1023 - 54 + leadingZeros // offset of the bits for the largest float64
)

// quarters returns the definition of the table of the bits of 2/π after leadingZeros.
var quarters = sync.OnceValue(func() string {
	const words = (maxQuarterBit+63)/64 + 4
	const digits = 64*words + 64 // bits of π, with a margin
	// π = 16·arctan(1/5) - 4·arctan(1/239) (Machin, 1706)
	arctan := func(n int64) *big.Int {
		power := new(big.Int).Div(new(big.Int).Lsh(big.NewInt(1), digits), big.NewInt(n))
		sum, square := new(big.Int), big.NewInt(n*n)
		for k, sign := int64(1), int64(1); power.Sign() > 0; k, sign = k+2, -sign {
			sum.Add(sum, new(big.Int).Div(power, big.NewInt(k*sign)))
			power.Div(power, square)
		}
		return sum
	}
	pi := new(big.Int).Sub(new(big.Int).Mul(big.NewInt(16), arctan(5)), new(big.Int).Mul(big.NewInt(4), arctan(239)))
	bits := new(big.Int).Div(new(big.Int).Lsh(big.NewInt(2), digits+64*words-leadingZeros), pi)
	var out strings.Builder
	fmt.Fprintf(&out, ".const .align 8 .u64 quarters[%d] = {", words)
	for i := range words {
		if i > 0 {
			out.WriteString(", ")
		}
		word := new(big.Int).Rsh(bits, uint(64*(words-1-i)))
		fmt.Fprintf(&out, "0x%016x", new(big.Int).And(word, new(big.Int).SetUint64(math.MaxUint64)))
	}
	out.WriteString("};\n")
	return out.String()
})
