package ptxsim

import "math"

// rounding is a PTX rounding modifier.
type rounding string

const (
	toNearest rounding = "rn" // ties to even
	toZero    rounding = "rz"
	down      rounding = "rm"
	up        rounding = "rp"
	away      rounding = "rna" // to nearest, ties away from zero
)

// format is a binary floating-point format as in IEEE 754.
type format struct {
	bits      int
	precision int // bits of the significand, including the hidden bit
	low       int // exponent of the smallest normal number
	infinity  uint64
	nan       uint64 // the NaN that instructions return
	largest   uint64 // largest finite value
}

var (
	format32   = format{32, 24, -126, 0x7f800000, 0x7fffffff, 0x7f7fffff}
	format16   = format{16, 11, -14, 0x7c00, 0x7fff, 0x7bff}
	formatB16  = format{16, 8, -126, 0x7f80, 0x7fff, 0x7f7f}
	formatE5M2 = format{8, 3, -14, 0x7c, 0x7f, 0x7b}
	formatE4M3 = format{8, 4, -6, 0x7f, 0x7f, 0x7e} // without infinities
	format64   = format{64, 53, -1022, 0x7ff0_0000_0000_0000, 0x7ff8_0000_0000_0000, 0x7fef_ffff_ffff_ffff}
)

// formatOf returns the format of an element of a floating-point type.
func formatOf(t valueType) format {
	switch t.class {
	case bfloat16, bfloat16Pair:
		return formatB16
	case float16Pair:
		return format16
	}
	switch t.name {
	case "f64":
		return format64
	case "f16":
		return format16
	case "e4m3", "e4m3x2":
		return formatE4M3
	case "e5m2", "e5m2x2":
		return formatE5M2
	}
	return format32
}

// decode returns the exact value of bits in a format.
func (f *format) decode(bits uint64) float64 {
	switch f.bits {
	case 64:
		return math.Float64frombits(bits)
	case 32:
		return float64(math.Float32frombits(uint32(bits)))
	case 16:
		if f.precision == formatB16.precision {
			return float64(math.Float32frombits(uint32(bits) << 16))
		}
		if m := bits & 0x7fff; m >= 0x400 && m < 0x7c00 { // normal: only the exponent's bias differs
			return float64(math.Float32frombits(uint32(bits&0x8000)<<16 | uint32(m<<13+(127-15)<<23)))
		}
	}
	magnitude := bits & lowBits(f.bits-1)
	var v float64
	switch {
	case magnitude > f.infinity || magnitude == f.nan:
		return math.NaN()
	case magnitude == f.infinity:
		v = math.Inf(1)
	default:
		fraction := f.precision - 1
		exponent := int(magnitude >> fraction)
		v = float64(magnitude & lowBits(fraction))
		if exponent > 0 {
			v += float64(uint64(1) << fraction)
			exponent--
		}
		v = math.Ldexp(v, f.low-fraction+exponent)
	}
	if bits>>(f.bits-1) == 1 {
		v = -v
	}
	return v
}

// encode rounds a value to a format. A value that was rounded to float64 from an exact one
// must be adjusted by sticky for the result to be correct.
func (f *format) encode(v float64, mode rounding) uint64 {
	if f.bits == 64 {
		if v != v {
			return f.nan
		}
		return math.Float64bits(v)
	}
	if v != v {
		return f.nan
	}
	raw := math.Float64bits(v)
	negative := raw>>63 == 1
	sign := raw >> 63 << (f.bits - 1)
	if math.IsInf(v, 0) {
		return sign | f.infinity
	}
	exponent, m := int(raw>>52&0x7ff), raw&lowBits(52)
	if exponent == 0 {
		exponent = 1
	} else {
		m |= 1 << 52
	}
	exponent -= 1023
	quantum := max(exponent, f.low) - (f.precision - 1)
	shift := quantum - (exponent - 52)
	var keep, rest, half uint64
	switch {
	case shift > 60:
		rest, half = min(m, 1), 2
	case shift > 0:
		keep, rest, half = m>>shift, m&lowBits(shift), 1<<(shift-1)
	default:
		keep = m << -shift
	}
	roundUp := false
	switch mode {
	case toNearest:
		roundUp = rest > half || rest == half && rest != 0 && keep&1 == 1
	case away:
		roundUp = rest >= half && rest != 0
	case down:
		roundUp = negative && rest != 0
	case up:
		roundUp = !negative && rest != 0
	}
	if roundUp {
		keep++
	}
	magnitude := uint64(quantum-(f.low-(f.precision-1)))<<(f.precision-1) + keep
	if magnitude >= f.infinity {
		magnitude = f.infinity
		if mode == toZero || mode == down && !negative || mode == up && negative {
			magnitude = f.largest
		}
	}
	return sign | magnitude
}

// sticky rounds an inexact float64 to odd, so that rounding it once more is the same as
// rounding the exact value: error is exact-v, of which only the sign matters.
func sticky(v, rest float64) float64 {
	if rest == 0 || rest != rest || v-v != 0 {
		return v
	}
	raw := math.Float64bits(v)
	if raw&1 == 1 {
		return v
	}
	switch {
	case v == 0:
		return math.Copysign(math.SmallestNonzeroFloat64, rest)
	case rest > 0 == (v > 0):
		raw++
	default:
		raw--
	}
	return math.Float64frombits(raw)
}

// exactSum returns a+b for encode.
func exactSum(a, b float64) float64 {
	s := a + b
	t := s - a
	return sticky(s, (a-(s-t))+(b-t))
}

// exactFMA returns a*b+c for encode, for values whose product is an exact float64.
func exactFMA(a, b, c float64) float64 { return exactSum(float64(a*b), c) }

// exactQuotient returns a/b for encode.
func exactQuotient(a, b float64) float64 {
	q := a / b
	return sticky(q, math.FMA(-q, b, a)*math.Copysign(1, b))
}

// exactRoot returns the square root for encode.
func exactRoot(a float64) float64 {
	s := math.Sqrt(a)
	return sticky(s, math.FMA(-s, s, a))
}

// zeroSign sets the sign of the sum of opposite numbers: only rounding down makes it
// negative.
func zeroSign(sum, a, b float64, mode rounding) float64 {
	if sum == 0 && mode == down && !(a == 0 && b == 0 && !math.Signbit(a) && !math.Signbit(b)) {
		return math.Copysign(0, -1)
	}
	return sum
}
