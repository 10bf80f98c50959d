package host

import (
	"math"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// convert returns the conversion from one type to another.
func convert(from, to program.Type) func(uint64) uint64 {
	switch {
	case from == program.Float32 && to == program.Float64:
		return func(x uint64) uint64 { return bits64(float64(f32(x))) }
	case from == program.Float64 && to == program.Float32:
		return func(x uint64) uint64 { return bits32(float32(f64(x))) }
	case from == program.Float32:
		return func(x uint64) uint64 { return toInteger(float64(f32(x)), to) }
	case from == program.Float64:
		return func(x uint64) uint64 { return toInteger(f64(x), to) }
	case to == program.Float32 && from.IsSigned():
		return func(x uint64) uint64 { return bits32(float32(int64(x))) }
	case to == program.Float32:
		return func(x uint64) uint64 { return bits32(float32(x)) }
	case to == program.Float64 && from.IsSigned():
		return func(x uint64) uint64 { return bits64(float64(int64(x))) }
	case to == program.Float64:
		return func(x uint64) uint64 { return bits64(float64(x)) }
	}
	return func(x uint64) uint64 { return wrap(x, to) }
}

// toInteger rounds toward zero. What does not fit is clamped, and NaN is 0.
func toInteger(f float64, to program.Type) uint64 {
	if math.IsNaN(f) {
		return 0
	}
	f = math.Trunc(f)
	bits := int(width(to))
	if !to.IsSigned() {
		switch {
		case f <= 0:
			return 0
		case f >= math.Ldexp(1, bits):
			return wrap(math.MaxUint64, to)
		}
		return uint64(f)
	}
	limit := math.Ldexp(1, bits-1)
	switch {
	case f >= limit:
		return 1<<(bits-1) - 1
	case f < -limit:
		return wrap(1<<(bits-1), to)
	}
	return uint64(int64(f))
}
