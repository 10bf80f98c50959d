package ptxsim

import (
	"math"
	"math/big"
	"testing"
)

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
		{"cvt.f32.bf16 %r, %ha;", floats16, func(a, _, _ uint64) uint64 { return bits32(value32(a << 16)) }},
		{"cvt.f32.f16 %r, %ha;", floats16, func(a, _, _ uint64) uint64 {
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
