package ptxsim

import "math"

// Tensor cores do not add exactly. They shift all products and the addend to the exponent
// of the largest, truncate the bits below a limit, and truncate the sum to a float32. The
// manual does not say how many bits they keep; these are measurements: Fasi, Higham,
// Mikaitis and Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science
// 7:e330, 2021, for 16 bits and TF32, where an A100 keeps one more bit than float32, and
// the DeepSeek-V3 Technical Report, arXiv:2412.19437, section 3.3.2, for 8 bits.
const (
	coarseBits  = 24
	coarseBits8 = 13
)

// coarseSum computes c + Σ x·y as a tensor core does, for elements with a number of bits.
func coarseSum(x, y []float64, c float64, elementBits int) float64 {
	keep := coarseBits
	if elementBits == 8 {
		keep = coarseBits8
	}
	top := exponent64(c)
	for k, v := range x {
		top = max(top, exponent64(v*y[k]))
	}
	if top == 0x7ff { // infinite, or NaN
		sum := c
		for k, v := range x {
			sum += v * y[k]
		}
		return sum
	}
	sum := cutOff(c, top, keep)
	for k, v := range x {
		sum += cutOff(v*y[k], top, keep)
	}
	f := float32(sum)
	if math.Abs(float64(f)) > math.Abs(sum) {
		f = math.Nextafter32(f, 0)
	}
	return float64(f)
}

func exponent64(v float64) int { return int(math.Float64bits(v) >> 52 & 0x7ff) }

// cutOff truncates v to multiples of 2^-keep, relative to the number with exponent top.
func cutOff(v float64, top, keep int) float64 {
	drop := 52 - keep + top - exponent64(v)
	if drop > 52 {
		return 0
	}
	if drop <= 0 {
		return v
	}
	return math.Float64frombits(math.Float64bits(v) &^ (1<<drop - 1))
}
