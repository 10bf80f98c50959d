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

var halves = append([]uint64{0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x3e00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7fff, 0xffff, 0x7f80, 0xff80, 0x3f80, 0x0080, 0x007f, 0x7f7f}, randomBits(14, 16)...)

// reference rounds an exact value to a format by big arithmetic.
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

// exactly is the value of finite bits by the definition of the format.
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

// sumOf and its kin are the references of a format; what is not finite
// follows float64, where NaN is the format's.
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
		row{"add.f16 %h, %ha, %hb;", halves, sumOf(format16, toNearest)},
		row{"sub.f16 %h, %ha, %hb;", halves, func(a, b, _ uint64) uint64 { return sumOf(format16, toNearest)(a, negate(format16, b), 0) }},
		row{"mul.f16 %h, %ha, %hb;", halves, productOf(format16, toNearest)},
		row{"fma.rn.f16 %h, %ha, %hb, %hc;", halves, fusedOf(format16, toNearest)},
		row{"add.bf16 %h, %ha, %hb;", halves, sumOf(formatB16, toNearest)},
		row{"mul.bf16 %h, %ha, %hb;", halves, productOf(formatB16, toNearest)},
		row{"fma.rn.bf16 %h, %ha, %hb, %hc;", halves, fusedOf(formatB16, toNearest)},
		row{"fma.rn.relu.bf16 %h, %ha, %hb, %hc;", halves, func(a, b, c uint64) uint64 {
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
		row{"setp.gt.bf16 %p, %ha, %hb;", halves, func(a, b, _ uint64) uint64 { return truth(value32(a<<16) > value32(b<<16)) }},
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

// clean makes a positive zero of NaN and of everything below.
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

func TestConversions(t *testing.T) {
	t.Parallel()
	narrow := func(to format, mode rounding) func(a, _, _ uint64) uint64 {
		return func(a, _, _ uint64) uint64 {
			if !finite(format32, a) {
				return exceptional(to, format32.decode(a))
			}
			return reference(exactly(format32, a), to, mode, negative(format32, a))
		}
	}
	pair := func(to format, width int, limit bool) func(a, b, _ uint64) uint64 {
		one := func(v uint64) uint64 {
			r := narrow(to, toNearest)(v, 0, 0)
			if limit && r&lowBits(width-1) >= to.infinity && !math.IsNaN(float64(value32(v))) {
				r = r>>(width-1)<<(width-1) | to.largest
			}
			return r
		}
		return func(a, b, _ uint64) uint64 { return one(a)<<width | one(b) }
	}
	whole := func(v float64, round func(float64) float64, low, high float64) int64 {
		if v = round(v); v != v {
			return 0
		}
		return int64(max(low, min(high, v)))
	}
	checkInstructions(t, []row{
		{"cvt.rn.bf16.f32 %h, %ra;", floats32, narrow(formatB16, toNearest)},
		{"cvt.rz.bf16.f32 %h, %ra;", floats32, narrow(formatB16, toZero)},
		{"cvt.rn.f16.f32 %h, %ra;", floats32, narrow(format16, toNearest)},
		{"cvt.rz.f16.f32 %h, %ra;", floats32, narrow(format16, toZero)},
		{"cvt.rn.bf16x2.f32 %r, %ra, %rb;", floats32, pair(formatB16, 16, false)},
		{"cvt.rn.f16x2.f32 %r, %ra, %rb;", floats32, pair(format16, 16, false)},
		{"cvt.rn.satfinite.e4m3x2.f32 %h, %ra, %rb;", floats32, pair(formatE4M3, 8, true)},
		{"cvt.rn.satfinite.e5m2x2.f32 %h, %ra, %rb;", floats32, pair(formatE5M2, 8, true)},
		{"cvt.f32.bf16 %r, %ha;", halves, func(a, _, _ uint64) uint64 { return bits32(value32(a << 16)) }},
		{"cvt.f32.f16 %r, %ha;", halves, func(a, _, _ uint64) uint64 {
			if !finite(format16, a) {
				return exceptional(format32, format16.decode(a))
			}
			return reference(exactly(format16, a), format32, toNearest, negative(format16, a))
		}},
		{"cvt.rn.f16x2.e4m3x2 %r, %ha;", integers16, func(a, _, _ uint64) uint64 {
			one := func(v uint64) uint64 {
				if v&0x7f == 0x7f {
					return 0x7fff
				}
				return reference(exactly(formatE4M3, v), format16, toNearest, negative(formatE4M3, v))
			}
			return one(a>>8)<<16 | one(a&0xff)
		}},
		{"cvt.rna.tf32.f32 %r, %ra;", floats32, func(a, _, _ uint64) uint64 {
			if !finite(format32, a) {
				return exceptional(format32, format32.decode(a))
			}
			return tensor32(a)
		}},
		{"cvt.rn.f32.f64 %r, %da;", floats64, func(a, _, _ uint64) uint64 { return bits32(float32(math.Float64frombits(a))) }},
		{"cvt.rz.f32.f64 %r, %da;", floats64, func(a, _, _ uint64) uint64 {
			v := math.Float64frombits(a)
			if v-v != 0 {
				return exceptional(format32, v)
			}
			return reference(exactly(format64, a), format32, toZero, a>>63 == 1)
		}},
		{"cvt.f64.f32 %d, %ra;", floats32, func(a, _, _ uint64) uint64 { return double(float64(value32(a))) }},
		{"cvt.rni.f32.f32 %r, %ra;", floats32, func(a, _, _ uint64) uint64 { return bits32(float32(math.RoundToEven(float64(value32(a))))) }},
		{"cvt.rmi.f32.f32 %r, %ra;", floats32, func(a, _, _ uint64) uint64 { return bits32(float32(math.Floor(float64(value32(a))))) }},
		{"cvt.sat.f32.f32 %r, %ra;", floats32, func(a, _, _ uint64) uint64 { return saturated32(a) }},
		{"cvt.ftz.f64.f32 %d, %ra;", floats32, func(a, _, _ uint64) uint64 { return double(float64(value32(flushed32(a)))) }},
		{"cvt.rzi.s32.f32 %r, %ra;", floats32, func(a, _, _ uint64) uint64 {
			return u32(whole(float64(value32(a)), math.Trunc, math.MinInt32, math.MaxInt32))
		}},
		{"cvt.rni.s32.f64 %r, %da;", floats64, func(a, _, _ uint64) uint64 {
			return u32(whole(math.Float64frombits(a), math.RoundToEven, math.MinInt32, math.MaxInt32))
		}},
		{"cvt.rpi.u32.f32 %r, %ra;", floats32, func(a, _, _ uint64) uint64 {
			return u32(whole(float64(value32(a)), math.Ceil, 0, math.MaxUint32))
		}},
		{"cvt.rmi.s16.f32 %h, %ra;", floats32, func(a, _, _ uint64) uint64 {
			return uint64(uint16(whole(float64(value32(a)), math.Floor, math.MinInt16, math.MaxInt16)))
		}},
		{"cvt.rzi.s64.f32 %d, %ra;", floats32, func(a, _, _ uint64) uint64 {
			v := float64(value32(a))
			if v >= 1<<63 {
				return math.MaxInt64
			}
			return uint64(whole(v, math.Trunc, math.MinInt64, v))
		}},
		{"cvt.rn.f32.s32 %r, %ra;", integers32, func(a, _, _ uint64) uint64 { return bits32(float32(s32(a))) }},
		{"cvt.rn.f32.u64 %r, %da;", integers64, func(a, _, _ uint64) uint64 { return bits32(float32(a)) }},
		{"cvt.rz.f32.s64 %r, %da;", integers64, func(a, _, _ uint64) uint64 {
			return reference(big.NewRat(int64(a), 1), format32, toZero, false)
		}},
		{"cvt.rn.f64.s64 %d, %da;", integers64, func(a, _, _ uint64) uint64 { return double(float64(int64(a))) }},
		{"cvt.rn.f64.u64 %d, %da;", integers64, func(a, _, _ uint64) uint64 { return double(float64(a)) }},
		{"cvt.rn.f16.s32 %h, %ra;", integers32, func(a, _, _ uint64) uint64 {
			return reference(big.NewRat(s32(a), 1), format16, toNearest, false)
		}},
		{"cvt.s64.s32 %d, %ra;", integers32, func(a, _, _ uint64) uint64 { return uint64(s32(a)) }},
		{"cvt.u64.s16 %d, %ha;", integers16, func(a, _, _ uint64) uint64 { return uint64(s16(a)) }},
		{"cvt.s32.s8 %r, %ra;", integers32, func(a, _, _ uint64) uint64 { return u32(int64(int8(a))) }},
		{"cvt.u32.u8 %r, %ra;", integers32, func(a, _, _ uint64) uint64 { return a & 0xff }},
		{"cvt.s8.s32 %r, %ra;", integers32, func(a, _, _ uint64) uint64 { return u32(int64(int8(a))) }},
		{"cvt.sat.s8.s32 %r, %ra;", integers32, func(a, _, _ uint64) uint64 { return u32(max(-128, min(127, s32(a)))) }},
		{"cvt.sat.u16.s32 %h, %ra;", integers32, func(a, _, _ uint64) uint64 { return uint64(max(0, min(65535, s32(a)))) }},
		{"cvt.sat.s32.u64 %r, %da;", integers64, func(a, _, _ uint64) uint64 { return min(a, math.MaxInt32) }},
	})
}

// tensor32 rounds to 10 bits of fraction, ties away from zero.
func tensor32(a uint64) uint64 {
	v := math.Abs(float64(value32(a)))
	step := math.Ldexp(1, -136)
	if v != 0 {
		_, e := math.Frexp(v)
		step = math.Ldexp(1, max(e-11, -136))
	}
	r := math.Round(v/step) * step
	return uint64(math.Float32bits(float32(r))) | a&(1<<31)
}

// Approximate functions are as exact as the manual promises, at least.
func TestApproximateInstructions(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		ptx   string
		f     func(float64) float64
		bound float64 // of the relative error
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
