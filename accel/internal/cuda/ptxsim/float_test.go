package ptxsim

import (
	"math"
	"math/big"
	"testing"
)

// floats32 are the edges of float32, and some others.
var floats32 = append(bitsOf32(0, 1, -1, 0.1, 1.5, math.Pi, -2.5, 3e38, 1e-38, 1e-45, -1e-45, 5e-39, 1.17549435e-38, math.MaxFloat32, -math.MaxFloat32,
	1+1.0/(1<<23), 1-1.0/(1<<24), 1<<24, 1<<24+2, 1e10, 1e-20, 65504, 65520, 6e-8, 2.98e-8, 448, 464, 480),
	append([]uint64{0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffffffff, 0x7f800001, 0x007fffff, 0x807fffff, 0x33000000, 0x33000001, 0x3f808000, 0x3f818000}, randomBits(12, 32)...)...)

func bitsOf32(values ...float64) []uint64 {
	out := make([]uint64, len(values))
	for i, v := range values {
		out[i] = uint64(math.Float32bits(float32(v)))
	}
	return out
}

var floats64 = append([]uint64{0, 1 << 63, 1, 0x7ff0_0000_0000_0000, 0xfff0_0000_0000_0000, 0x3ff0_0000_0000_0000, 0xbff8_0000_0000_0000, 0x7fef_ffff_ffff_ffff,
	math.Float64bits(math.Pi), math.Float64bits(1e-300), math.Float64bits(1e300), math.Float64bits(-123456.789), math.Float64bits(1e-45), math.Float64bits(3.4028235677973366e38),
	math.Float64bits(2147483647.5), math.Float64bits(-2147483648.5), math.Float64bits(1e20), math.Float64bits(0.5), math.Float64bits(2.5), math.Float64bits(-0.3)}, randomBits(6, 64)...)

var floats16 = append([]uint64{0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x3e00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7fff, 0xffff, 0x7f80, 0xff80, 0x3f80, 0x0080, 0x007f, 0x7f7f}, randomBits(14, 16)...)

// reference rounds an exact value to a format with math/big.
func reference(exact *big.Rat, f format, mode rounding, zeroNegative bool) uint64 {
	sign := uint64(0)
	if exact.Sign() < 0 || exact.Sign() == 0 && zeroNegative {
		sign = 1 << (f.bits - 1)
	}
	if exact.Sign() == 0 {
		return sign
	}
	m := new(big.Rat).Abs(exact)
	exponent := m.Num().BitLen() - m.Denom().BitLen() // 2^(e-1) < m < 2^(e+1)
	if m.Cmp(power(exponent)) < 0 {
		exponent--
	}
	quantum := max(exponent, f.low) - (f.precision - 1)
	scaled := new(big.Rat).Mul(m, power(-quantum))
	whole := new(big.Int).Quo(scaled.Num(), scaled.Denom())
	rest := new(big.Rat).Sub(scaled, new(big.Rat).SetInt(whole))
	half := rest.Cmp(big.NewRat(1, 2))
	increase := false
	switch mode {
	case toNearest:
		increase = half > 0 || half == 0 && whole.Bit(0) == 1
	case away:
		increase = half >= 0
	case up:
		increase = rest.Sign() > 0 && sign == 0
	case down:
		increase = rest.Sign() > 0 && sign != 0
	}
	if increase {
		whole.Add(whole, big.NewInt(1))
	}
	value := new(big.Rat).Mul(new(big.Rat).SetInt(whole), power(quantum))
	if value.Cmp(exactly(f, f.largest)) > 0 {
		if mode == toZero || mode == up && sign != 0 || mode == down && sign == 0 {
			return sign | f.largest
		}
		return sign | f.infinity
	}
	for lo, hi := uint64(0), f.largest; ; { // the magnitude with this value
		mid := (lo + hi) / 2
		switch exactly(f, mid).Cmp(value) {
		case 0:
			return sign | mid
		case -1:
			lo = mid + 1
		default:
			hi = mid - 1
		}
	}
}

func power(e int) *big.Rat {
	one := big.NewInt(1)
	if e < 0 {
		return new(big.Rat).SetFrac(one, new(big.Int).Lsh(one, uint(-e)))
	}
	return new(big.Rat).SetInt(new(big.Int).Lsh(one, uint(e)))
}

// exactly returns the value of finite bits by the definition of the format.
func exactly(f format, bits uint64) *big.Rat {
	fraction := f.precision - 1
	m, e := int64(bits&lowBits(fraction)), int(bits&lowBits(f.bits-1)>>fraction)
	if e > 0 {
		m += 1 << fraction
		e--
	}
	r := new(big.Rat).Mul(big.NewRat(m, 1), power(f.low-fraction+e))
	if bits>>(f.bits-1) == 1 {
		r.Neg(r)
	}
	return r
}

func finite(f format, values ...uint64) bool {
	for _, v := range values {
		if v&lowBits(f.bits-1) > f.largest {
			return false
		}
	}
	return true
}

func negative(f format, v uint64) bool { return v>>(f.bits-1)&1 == 1 }

// sumOf and similar functions are the references of a format. Values that are not finite
// follow float64, with the format's NaN.
func sumOf(f format, mode rounding) func(a, b, _ uint64) uint64 {
	return func(a, b, _ uint64) uint64 {
		if !finite(f, a, b) {
			return exceptional(f, f.decode(a)+f.decode(b))
		}
		zero := negative(f, a) && negative(f, b) || mode == down && (negative(f, a) || negative(f, b) || a&lowBits(f.bits-1) != 0)
		return reference(new(big.Rat).Add(exactly(f, a), exactly(f, b)), f, mode, zero)
	}
}

func productOf(f format, mode rounding) func(a, b, _ uint64) uint64 {
	return func(a, b, _ uint64) uint64 {
		if !finite(f, a, b) {
			return exceptional(f, f.decode(a)*f.decode(b))
		}
		return reference(new(big.Rat).Mul(exactly(f, a), exactly(f, b)), f, mode, negative(f, a) != negative(f, b))
	}
}

func fusedOf(f format, mode rounding) func(a, b, c uint64) uint64 {
	return func(a, b, c uint64) uint64 {
		if !finite(f, a, b, c) {
			return exceptional(f, math.FMA(f.decode(a), f.decode(b), f.decode(c)))
		}
		p := new(big.Rat).Mul(exactly(f, a), exactly(f, b))
		minus := negative(f, a) != negative(f, b)
		zero := minus && negative(f, c)
		if mode == down {
			zero = minus || negative(f, c) || p.Sign() != 0
		}
		return reference(p.Add(p, exactly(f, c)), f, mode, zero)
	}
}

func quotientOf(f format, mode rounding) func(a, b, _ uint64) uint64 {
	return func(a, b, _ uint64) uint64 {
		if !finite(f, a, b) || b&lowBits(f.bits-1) == 0 {
			return exceptional(f, f.decode(a)/f.decode(b))
		}
		return reference(new(big.Rat).Quo(exactly(f, a), exactly(f, b)), f, mode, negative(f, a) != negative(f, b))
	}
}

// exceptional encodes NaN, infinities and zeros.
func exceptional(f format, v float64) uint64 {
	sign := math.Float64bits(v) >> 63 << (f.bits - 1)
	switch {
	case v != v:
		return f.nan
	case math.IsInf(v, 0):
		return sign | f.infinity
	}
	return sign
}

func TestFloatInstructions(t *testing.T) {
	t.Parallel()
	var rows []row
	for _, mode := range []rounding{toNearest, toZero, down, up} {
		m := "." + string(mode)
		rows = append(rows,
			row{"add" + m + ".f32 %r, %ra, %rb;", floats32, sumOf(format32, mode)},
			row{"mul" + m + ".f32 %r, %ra, %rb;", floats32, productOf(format32, mode)},
			row{"fma" + m + ".f32 %r, %ra, %rb, %rc;", floats32, fusedOf(format32, mode)},
			row{"div" + m + ".f32 %r, %ra, %rb;", floats32, quotientOf(format32, mode)},
			row{"rcp" + m + ".f32 %r, %ra;", floats32, func(a, _, _ uint64) uint64 { return quotientOf(format32, mode)(0x3f800000, a, 0) }},
		)
	}
	negate := func(f format, b uint64) uint64 { return b ^ 1<<(f.bits-1) }
	rows = append(rows,
		row{"sub.f32 %r, %ra, %rb;", floats32, func(a, b, _ uint64) uint64 { return sumOf(format32, toNearest)(a, negate(format32, b), 0) }},
		row{"add.f16 %h, %ha, %hb;", floats16, sumOf(format16, toNearest)},
		row{"sub.f16 %h, %ha, %hb;", floats16, func(a, b, _ uint64) uint64 { return sumOf(format16, toNearest)(a, negate(format16, b), 0) }},
		row{"mul.f16 %h, %ha, %hb;", floats16, productOf(format16, toNearest)},
		row{"fma.rn.f16 %h, %ha, %hb, %hc;", floats16, fusedOf(format16, toNearest)},
		row{"add.bf16 %h, %ha, %hb;", floats16, sumOf(formatB16, toNearest)},
		row{"mul.bf16 %h, %ha, %hb;", floats16, productOf(formatB16, toNearest)},
		row{"fma.rn.bf16 %h, %ha, %hb, %hc;", floats16, fusedOf(formatB16, toNearest)},
		row{"fma.rn.relu.bf16 %h, %ha, %hb, %hc;", floats16, func(a, b, c uint64) uint64 {
			if v := fusedOf(formatB16, toNearest)(a, b, c); v < 0x8000 {
				return v
			}
			return 0
		}},
		row{"fma.rn.f16x2 %r, %ra, %rb, %rc;", integers32, func(a, b, c uint64) uint64 {
			f := fusedOf(format16, toNearest)
			return f(a&0xffff, b&0xffff, c&0xffff) | f(a>>16, b>>16, c>>16)<<16
		}},
		row{"add.ftz.f32 %r, %ra, %rb;", floats32, func(a, b, _ uint64) uint64 {
			return flushed32(sumOf(format32, toNearest)(flushed32(a), flushed32(b), 0))
		}},
		row{"add.sat.f32 %r, %ra, %rb;", floats32, func(a, b, _ uint64) uint64 { return saturated32(sumOf(format32, toNearest)(a, b, 0)) }},
		row{"sqrt.rn.f32 %r, %ra;", floats32, func(a, _, _ uint64) uint64 { return bits32(float32(math.Sqrt(float64(value32(a))))) }},
		row{"neg.f32 %r, %ra;", floats32, func(a, _, _ uint64) uint64 { return a ^ 1<<31 }},
		row{"abs.ftz.f32 %r, %ra;", floats32, func(a, _, _ uint64) uint64 { return flushed32(a) &^ (1 << 31) }},
		row{"abs.bf16x2 %r, %ra;", integers32, func(a, _, _ uint64) uint64 { return a & 0x7fff7fff }},
		row{"copysign.f32 %r, %ra, %rb;", floats32, func(a, b, _ uint64) uint64 { return b&0x7fffffff | a&(1<<31) }},
		row{"add.f64 %d, %da, %db;", floats64, func(a, b, _ uint64) uint64 { return double(math.Float64frombits(a) + math.Float64frombits(b)) }},
		row{"fma.rn.f64 %d, %da, %db, %dc;", floats64, func(a, b, c uint64) uint64 {
			return double(math.FMA(math.Float64frombits(a), math.Float64frombits(b), math.Float64frombits(c)))
		}},
		row{"div.rn.f64 %d, %da, %db;", floats64, func(a, b, _ uint64) uint64 { return double(math.Float64frombits(a) / math.Float64frombits(b)) }},
		row{"min.f32 %r, %ra, %rb;", floats32, extreme32(true, false)},
		row{"max.f32 %r, %ra, %rb;", floats32, extreme32(false, false)},
		row{"max.NaN.f32 %r, %ra, %rb;", floats32, extreme32(false, true)},
		row{"setp.lt.f32 %p, %ra, %rb;", floats32, func(a, b, _ uint64) uint64 { return truth(value32(a) < value32(b)) }},
		row{"setp.ne.f32 %p, %ra, %rb;", floats32, func(a, b, _ uint64) uint64 { return truth(value32(a) < value32(b) || value32(a) > value32(b)) }},
		row{"setp.neu.f32 %p, %ra, %rb;", floats32, func(a, b, _ uint64) uint64 { return truth(value32(a) != value32(b)) }},
		row{"setp.geu.ftz.f32 %p, %ra, %rb;", floats32, func(a, b, _ uint64) uint64 { return truth(!(value32(flushed32(a)) < value32(flushed32(b)))) }},
		row{"setp.nan.f64 %p, %da, %db;", floats64, func(a, b, _ uint64) uint64 {
			return truth(math.IsNaN(math.Float64frombits(a)) || math.IsNaN(math.Float64frombits(b)))
		}},
		row{"setp.gt.bf16 %p, %ha, %hb;", floats16, func(a, b, _ uint64) uint64 { return truth(value32(a<<16) > value32(b<<16)) }},
		row{"testp.subnormal.f32 %p, %ra;", floats32, func(a, _, _ uint64) uint64 { return truth(a&0x7f800000 == 0 && a&0x7fffff != 0) }},
	)
	checkInstructions(t, rows)
}

func flushed32(v uint64) uint64 {
	if v&0x7f800000 == 0 {
		return v & (1 << 31)
	}
	return v
}

func saturated32(v uint64) uint64 {
	return uint64(math.Float32bits(max(0, min(1, clean(value32(v))))))
}

// clean returns +0 for NaN and for negative values.
func clean(v float32) float32 {
	if v > 0 {
		return v
	}
	return 0
}

func double(v float64) uint64 {
	if v != v {
		return 0x7ff8_0000_0000_0000
	}
	return math.Float64bits(v)
}

func extreme32(smallest, propagate bool) func(a, b, _ uint64) uint64 {
	return func(a, b, _ uint64) uint64 {
		x, y := float64(value32(a)), float64(value32(b))
		switch {
		case x != x && y != y, propagate && (x != x || y != y):
			return 0x7fffffff
		case x != x:
			return b
		case y != y:
			return a
		case smallest:
			return uint64(math.Float32bits(float32(math.Min(x, y))))
		}
		return uint64(math.Float32bits(float32(math.Max(x, y))))
	}
}

// Approximate functions are at least as exact as the manual guarantees.
func TestApproximateInstructions(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		ptx   string
		f     func(float64) float64
		bound float64 // maximum relative error
	}{
		{"ex2.approx.f32 %r, %ra;", math.Exp2, 0x1p-22},
		{"ex2.approx.ftz.f32 %r, %ra;", math.Exp2, 0x1p-22},
		{"lg2.approx.f32 %r, %ra;", math.Log2, 0x1p-22},
		{"rcp.approx.f32 %r, %ra;", func(v float64) float64 { return 1 / v }, 0x1p-23},
		{"rsqrt.approx.f32 %r, %ra;", func(v float64) float64 { return 1 / math.Sqrt(v) }, 0x1p-22},
		{"sqrt.approx.f32 %r, %ra;", math.Sqrt, 0x1p-23},
		{"sin.approx.f32 %r, %ra;", math.Sin, 0x1p-20},
		{"cos.approx.f32 %r, %ra;", math.Cos, 0x1p-20},
		{"tanh.approx.f32 %r, %ra;", math.Tanh, 0x1p-11},
	} {
		t.Run(row.ptx, func(t *testing.T) {
			t.Parallel()
			var in [][3]uint64
			for _, v := range []float64{0.25, 1, 1.1, 2, 3.7, 0.001, 10, 31.4, math.Inf(1), math.NaN()} {
				in = append(in, [3]uint64{uint64(math.Float32bits(float32(v)))})
			}
			for i, got := range compute(t, row.ptx, in) {
				x := float64(value32(in[i][0]))
				y, want := float64(value32(got)), row.f(x)
				if y == want || y != y && want != want {
					continue
				}
				if !(math.Abs(y-want) <= row.bound*math.Abs(want)) {
					t.Errorf("of %v: %v, want %v", x, y, want)
				}
			}
		})
	}
}
