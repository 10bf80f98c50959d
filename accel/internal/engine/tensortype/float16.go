package tensortype

import "math"

// BFloat16Bits rounds to the nearest bfloat16, ties to even. NaN stays NaN; values beyond the range
// become infinite.
func BFloat16Bits(f float32) uint16 {
	if f != f {
		return 0x7fc0
	}
	b := math.Float32bits(f)
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// BFloat16Value returns the value of the bits.
func BFloat16Value(b uint16) float32 { return math.Float32frombits(uint32(b) << 16) }

// Float16Bits rounds to the nearest IEEE 754 binary16, ties to even, including subnormal numbers.
// NaN stays NaN; values beyond the range become infinite.
func Float16Bits(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b >> 16 & 0x8000)
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000:
		return sign | 0x7e00
	case b >= 0x477ff000: // 65520, half-way between the largest float16 and 2¹⁶
		return sign | 0x7c00
	case b < 0x38800000: // subnormal: below 2⁻¹⁴ the spacing is 2⁻²⁴
		return sign | uint16(math.RoundToEven(float64(math.Float32frombits(b))*(1<<24)))
	}
	b += 0xfff + b>>13&1 // a carry increments the exponent
	return sign | uint16(b>>13-(127-15)<<10)
}

// Float16Value returns the value of the bits.
func Float16Value(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exponent, fraction := uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exponent {
	case 0:
		return math.Float32frombits(math.Float32bits(float32(fraction)/(1<<24)) | sign)
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
