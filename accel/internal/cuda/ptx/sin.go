package ptx

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"sync"
)

// reduceAngle returns r = x - n·π/2, in [-π/4, π/4], and n modulo 4, for a float32 of any
// size. A large one is m·2^e with integers m and e; 2^e modulo 2π comes from a table, as two
// float64 that add up to 106 bits; see [turns].
func (b *builder) reduceAngle(x reg) (r, n reg) {
	b.tables["turns"] = turns()
	bits := b.op(bits32, "mov.b32", x)
	exponent := b.op(bits32, "sub.s32", b.op(bits32, "bfe.u32", bits, word(23), word(8)), word(127+23))
	large := b.setp("ge.s32", exponent, word(0))
	exponent = b.op(bits32, "min.s32", b.op(bits32, "max.s32", exponent, word(0)), word(maxTurnExponent))
	m := b.op(bits32, "or.b32", b.op(bits32, "and.b32", bits, word(1<<23-1)), word(1<<23))
	whole := b.op(real64, "cvt.rn.f64.u32", m)
	whole = b.selp64(b.setp("lt.s32", bits, word(0)), b.d("neg", whole), whole)
	at := b.op(bits64, "mov.u64", "turns")
	at = b.op(bits64, "mad.wide.u32", exponent, word(16), at)
	upper, lower := b.new(real64), b.new(real64)
	b.do("ld.const.v2.f64", reg(fmt.Sprintf("{%s, %s}", upper, lower)), reg(fmt.Sprintf("[%s]", at)))
	product := b.d("mul.rn", whole, upper)
	lost := b.d("fma.rn", whole, upper, b.d("neg", product))
	lost = b.d("fma.rn", whole, lower, lost)

	rest := b.selp64(large, product, b.op(real64, "cvt.f64.f32", x))
	lost = b.selp64(large, lost, double(0))
	q := b.op(real64, "cvt.rni.f64.f64", b.d("mul.rn", rest, double(2/math.Pi)))
	minus := b.d("neg", q)
	rest = b.d("fma.rn", minus, double(math.Pi/2), rest)
	rest = b.d("fma.rn", minus, "0d3C91A62633145C07", rest) // the low part of π/2
	rest = b.d("add.rn", rest, lost)
	n = b.op(bits32, "cvt.rni.s32.f64", q)
	return b.op(real32, "cvt.rn.f32.f64", rest), b.op(bits32, "and.b32", n, word(3))
}

func (b *builder) sin(x reg) reg { return b.sine(x, 0) }

func (b *builder) cos(x reg) reg { return b.sine(x, 1) }

// sine computes the sine. quarters is added in quarter turns: 1 gives the cosine.
func (b *builder) sine(x reg, quarters int) reg {
	if b.double {
		return b.sine64(x, quarters)
	}
	r, n := b.reduceAngle(x)
	n = b.op(bits32, "add.s32", n, word(quarters))
	square := b.f("mul.rn", r, r)
	sine := b.horner(square, 1./362880, -1./5040, 1./120, -1./6)
	sine = b.f("fma.rn", b.f("mul.rn", sine, square), r, r)
	cosine := b.horner(square, -1./3628800, 1./40320, -1./720, 1./24, -1./2)
	cosine = b.f("fma.rn", cosine, square, single(1))
	odd := b.setp("ne.s32", b.op(bits32, "and.b32", n, word(1)), word(0))
	y := b.selp(odd, cosine, sine)
	negate := b.setp("ne.s32", b.op(bits32, "and.b32", n, word(2)), word(0))
	y = b.selp(negate, b.f("neg", y), y)
	return b.selp(b.setp("lt.f32", b.f("abs", x), single(math.Inf(1))), y, single(math.NaN()))
}

// maxTurnExponent is the exponent of the largest float32, written with an integer mantissa.
const maxTurnExponent = 104

// turns returns the definition of the table of 2^e modulo 2π, two float64 for each e.
var turns = sync.OnceValue(func() string {
	// The first digits of π: 2^104 modulo 2π to 106 bits needs 210 bits of it.
	pi, _, err := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798", 10, 330, big.ToNearestEven)
	if err != nil {
		panic(err) // the constant above is malformed
	}
	whole := new(big.Float).SetPrec(330).Mul(pi, big.NewFloat(2))
	var out strings.Builder
	fmt.Fprintf(&out, ".const .align 16 .f64 turns[%d] = {", 2*(maxTurnExponent+1))
	for e := range maxTurnExponent + 1 {
		power := new(big.Float).SetPrec(330).SetMantExp(big.NewFloat(1), e)
		count, _ := new(big.Float).SetPrec(330).Quo(power, whole).Int(nil)
		rest := power.Sub(power, new(big.Float).SetPrec(330).Mul(whole, new(big.Float).SetPrec(330).SetInt(count)))
		upper, _ := rest.Float64()
		lower, _ := rest.Sub(rest, big.NewFloat(upper)).Float64()
		if e > 0 {
			out.WriteString(", ")
		}
		out.WriteString(string(double(upper)) + ", " + string(double(lower)))
	}
	out.WriteString("};\n")
	return out.String()
})
