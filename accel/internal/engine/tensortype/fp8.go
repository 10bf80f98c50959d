package tensortype

import "math"

// float8 is a format of the OCP 8-bit Floating Point Specification (revision 1.0).
type float8 struct {
	fraction int    // number of fraction bits
	bias     int    // of the exponent
	largest  uint8  // bits of the largest finite number
	nan      uint8  // bits of NaN
	infinity uint16 // bits of infinity, or 0x100 if the format has none
}

var (
	e4m3 = float8{fraction: 3, bias: 7, largest: 0x7e, nan: 0x7f, infinity: 0x100}
	e5m2 = float8{fraction: 2, bias: 15, largest: 0x7b, nan: 0x7f, infinity: 0x7c}
)

func float8Of(d DType) *float8 {
	if d == Float8E5M2 {
		return &e5m2
	}
	return &e4m3
}

// Float8Bits rounds to the nearest value of an 8-bit type, ties to even, including subnormal
// numbers. Values beyond the range, including infinities, become the largest value, as in the
// specification's saturating conversion and on GPUs. NaN stays NaN.
func Float8Bits(d DType, f float32) uint8 {
	t := float8Of(d)
	b := math.Float32bits(f)
	sign := uint8(b >> 24 & 0x80)
	if f != f {
		return sign | t.nan
	}
	b &= 0x7fffffff
	drop := 23 - t.fraction
	if exponent := int(b>>23) - 127 + t.bias; exponent <= 0 { // subnormal in the 8-bit type
		unit := math.Ldexp(1, 1-t.bias-t.fraction)
		return sign | uint8(math.RoundToEven(float64(math.Float32frombits(b))/unit))
	}
	b += 1<<(drop-1) - 1 + b>>drop&1 // a carry increments the exponent
	if n := b>>drop - uint32(127-t.bias)<<t.fraction; n < uint32(t.largest) {
		return sign | uint8(n)
	}
	return sign | t.largest
}

// Float8Value returns the value of the bits.
func Float8Value(d DType, b uint8) float32 {
	t := float8Of(d)
	sign := 1.
	if b&0x80 != 0 {
		sign = -1
	}
	b &= 0x7f
	switch {
	case uint16(b) == t.infinity:
		return float32(math.Inf(int(sign)))
	case b > t.largest:
		return float32(math.NaN())
	}
	exponent, fraction := int(b>>t.fraction), float64(b&(1<<t.fraction-1))
	if exponent == 0 {
		return float32(math.Copysign(math.Ldexp(fraction, 1-t.bias-t.fraction), sign))
	}
	return float32(math.Copysign(math.Ldexp(fraction+math.Ldexp(1, t.fraction), exponent-t.bias-t.fraction), sign))
}

// maxScale limits the exponent of a scale, so that every 8-bit value divided by the scale is a
// bfloat16.
const maxScale = 100

// Float8Scale returns the exponent e of the scale 2ᵉ for a tensor whose largest absolute value is
// largest, which must not be NaN: the greatest e for which largest·2ᵉ does not exceed the type's
// largest value. A tensor whose elements are all below 1e-28 or near the end of the float32 range
// uses less of the 8-bit range. For 0 and infinity e is 0.
func Float8Scale(d DType, largest float32) int {
	b := math.Float32bits(largest) & 0x7fffffff
	if b == 0 || b == 0x7f800000 {
		return 0
	}
	t := float8Of(d)
	// As a float32, the type's largest value is 2^top times 1.fraction.
	end := math.Float32bits(Float8Value(d, t.largest))
	top := int(end>>23) - 127
	e := top + 127 - int(b>>23)
	if b&0x7fffff > end&0x7fffff {
		e--
	}
	return max(top-127, min(e, maxScale))
}
