package tensortype

import "math"

// float8 is a format of the OCP 8-bit Floating Point Specification (revision 1.0).
type float8 struct {
	fraction int    // bits
	bias     int    // of the exponent
	largest  uint8  // bits of the largest number
	nan      uint8  // bits of NaN
	infinity uint16 // bits of infinity, beyond a byte where there is none
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

// Float8Bits rounds to the nearest number of an 8-bit type, to the even one of two,
// also among the denormal ones. What is too large, infinities too, becomes the
// largest number, as in the specification's saturating conversion and in that of
// GPUs. NaN stays NaN.
func Float8Bits(d DType, f float32) uint8 {
	t := float8Of(d)
	b := math.Float32bits(f)
	sign := uint8(b >> 24 & 0x80)
	if f != f {
		return sign | t.nan
	}
	b &= 0x7fffffff
	drop := 23 - t.fraction
	if exponent := int(b>>23) - 127 + t.bias; exponent <= 0 { // below the smallest normal number
		unit := math.Ldexp(1, 1-t.bias-t.fraction)
		return sign | uint8(math.RoundToEven(float64(math.Float32frombits(b))/unit))
	}
	b += 1<<(drop-1) - 1 + b>>drop&1 // a carry goes on into the exponent
	if n := b>>drop - uint32(127-t.bias)<<t.fraction; n < uint32(t.largest) {
		return sign | uint8(n)
	}
	return sign | t.largest
}

// Float8Value returns the number that the bits stand for.
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

// mostScale bounds the exponent of a scale, so that every number divided by it is
// a bfloat16.
const mostScale = 100

// Float8Scale returns the exponent e of the scale 2ᵉ with which numbers up to largest,
// which is not NaN, use the range of an 8-bit type: the greatest for which
// largest·2ᵉ is no more than the type's largest number. Tensors that are smaller
// than 1e-28 throughout, and those near the end of float32, use less of it. For 0
// and infinity it is 0.
func Float8Scale(d DType, largest float32) int {
	b := math.Float32bits(largest) & 0x7fffffff
	if b == 0 || b == 0x7f800000 {
		return 0
	}
	t := float8Of(d)
	// As a float32, the type's largest number is 2^top times 1.fraction.
	end := math.Float32bits(Float8Value(d, t.largest))
	top := int(end>>23) - 127
	e := top + 127 - int(b>>23)
	if b&0x7fffff > end&0x7fffff {
		e--
	}
	return max(top-127, min(e, mostScale))
}
