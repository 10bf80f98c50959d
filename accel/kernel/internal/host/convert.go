package host

import (
	"math"
	"unsafe"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// toInteger compiles a conversion of x to the type of d, an integer.
func toInteger[D integer](m *machine, d, x *column, declares bool) code {
	switch x.typ {
	case program.Float32:
		return apply(m, d, x, x, declares, mapping(func(v float32) D { return clamp[D](float64(v)) }))
	case program.Float64:
		return apply(m, d, x, x, declares, mapping(clamp[D]))
	}
	return toNumber[D](m, d, x, declares)
}

// toNumber is toInteger for any type, unless x is a float and d an integer.
func toNumber[D number](m *machine, d, x *column, declares bool) code {
	switch x.typ {
	case program.Int8:
		return apply(m, d, x, x, declares, convertLoops[D, int8]())
	case program.Int16:
		return apply(m, d, x, x, declares, convertLoops[D, int16]())
	case program.Int32:
		return apply(m, d, x, x, declares, convertLoops[D, int32]())
	case program.Int64:
		return apply(m, d, x, x, declares, convertLoops[D, int64]())
	case program.Uint8:
		return apply(m, d, x, x, declares, convertLoops[D, uint8]())
	case program.Uint16:
		return apply(m, d, x, x, declares, convertLoops[D, uint16]())
	case program.Uint32:
		return apply(m, d, x, x, declares, convertLoops[D, uint32]())
	case program.Uint64:
		return apply(m, d, x, x, declares, convertLoops[D, uint64]())
	case program.Float32:
		return apply(m, d, x, x, declares, convertLoops[D, float32]())
	}
	return apply(m, d, x, x, declares, convertLoops[D, float64]())
}

func convertLoops[D, T number]() loops[D, T] {
	return loops[D, T]{dense: func(d []D, x, _ []T) {
		x = x[:len(d)]
		for i := range d {
			d[i] = D(x[i])
		}
	}, sparse: func(d []D, x, _ []T, list []int32) {
		for _, k := range list {
			d[k] = D(x[k])
		}
	}}
}

// clamp rounds toward zero. What does not fit is clamped, and NaN is 0.
func clamp[D integer](f float64) D {
	if math.IsNaN(f) {
		return 0
	}
	var zero D
	bits := int(8 * unsafe.Sizeof(zero))
	least, largest := zero, ^zero
	limit := math.Ldexp(1, bits)
	if ^zero < 0 { // signed
		limit = math.Ldexp(1, bits-1)
		least = 1 << (bits - 1)
		largest = ^least
	}
	f = math.Trunc(f)
	switch {
	case f >= limit:
		return largest
	case f <= float64(least):
		return least
	}
	return D(f)
}
