package ptx

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"sync"
)

// turned is r = x - n·π/2, from -π/4 to π/4, and n modulo 4, for a float32 of any
// size. A large one is m·2^e with m and e whole, and 2^e modulo 2π is in a table, in
// two float64 that count 106 bits; see [turns].
func (b *builder) turned(x reg) (r, n reg) {
	b.tables["turns"] = turns()
	bits := b.op(bits32, "mov.b32", x)
	exponent := b.op(bits32, "sub.s32", b.op(bits32, "bfe.u32", bits, word(23), word(8)), word(127+23))
	large := b.when("ge.s32", exponent, word(0))
	exponent = b.op(bits32, "min.s32", b.op(bits32, "max.s32", exponent, word(0)), word(mostTurns))
	m := b.op(bits32, "or.b32", b.op(bits32, "and.b32", bits, word(1<<23-1)), word(1<<23))
	whole := b.op(real64, "cvt.rn.f64.u32", m)
	whole = b.chooseWide(b.when("lt.s32", bits, word(0)), b.d("neg", whole), whole)
	at := b.op(bits64, "mov.u64", "turns")
	at = b.op(bits64, "mad.wide.u32", exponent, word(16), at)
	upper, lower := b.new(real64), b.new(real64)
	b.do("ld.const.v2.f64", reg(fmt.Sprintf("{%s, %s}", upper, lower)), reg(fmt.Sprintf("[%s]", at)))
	product := b.d("mul.rn", whole, upper)
	lost := b.d("fma.rn", whole, upper, b.d("neg", product))
	lost = b.d("fma.rn", whole, lower, lost)

	rest := b.chooseWide(large, product, b.op(real64, "cvt.f64.f32", x))
	lost = b.chooseWide(large, lost, double(0))
	q := b.op(real64, "cvt.rni.f64.f64", b.d("mul.rn", rest, double(2/math.Pi)))
	minus := b.d("neg", q)
	rest = b.d("fma.rn", minus, double(math.Pi/2), rest)
	rest = b.d("fma.rn", minus, "0d3C91A62633145C07", rest) // what π/2 has beyond its float64
	rest = b.d("add.rn", rest, lost)
	n = b.op(bits32, "cvt.rni.s32.f64", q)
	return b.op(real32, "cvt.rn.f32.f64", rest), b.op(bits32, "and.b32", n, word(3))
}

// sin is the sine of float32, with quarter turns added: 1 makes it the cosine.
func (b *builder) sin(x reg, quarters int) reg {
	r, n := b.turned(x)
	n = b.op(bits32, "add.s32", n, word(quarters))
	square := b.f("mul.rn", r, r)
	sine := b.horner(square, 1./362880, -1./5040, 1./120, -1./6)
	sine = b.f("fma.rn", b.f("mul.rn", sine, square), r, r)
	cosine := b.horner(square, -1./3628800, 1./40320, -1./720, 1./24, -1./2)
	cosine = b.f("fma.rn", cosine, square, single(1))
	odd := b.when("ne.s32", b.op(bits32, "and.b32", n, word(1)), word(0))
	y := b.choose(odd, cosine, sine)
	turned := b.when("ne.s32", b.op(bits32, "and.b32", n, word(2)), word(0))
	y = b.choose(turned, b.f("neg", y), y)
	return b.choose(b.when("lt.f32", b.f("abs", x), single(math.Inf(1))), y, single(math.NaN()))
}

// mostTurns is the exponent of the largest float32, whose mantissa is whole.
const mostTurns = 104

// turns is the table of 2^e modulo 2π, each in two float64.
var turns = sync.OnceValue(func() string {
	// π by its first digits: 2^104 modulo 2π to 106 bits needs 210 of them.
	pi, _, err := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798", 10, 330, big.ToNearestEven)
	if err != nil {
		panic(err) // the digits above are digits
	}
	whole := new(big.Float).SetPrec(330).Mul(pi, big.NewFloat(2))
	var out strings.Builder
	fmt.Fprintf(&out, ".const .align 16 .f64 turns[%d] = {", 2*(mostTurns+1))
	for e := range mostTurns + 1 {
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
