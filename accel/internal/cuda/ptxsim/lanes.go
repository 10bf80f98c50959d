package ptxsim

import "math/bits"

// mapOne returns a step that applies a function to one register.
func mapOne(d, a int, f func(a uint64) uint64) step {
	return func(w *warp, mask uint32) {
		d, a := &w.r[d], &w.r[a]
		if mask == allLanes {
			for i := range d {
				d[i] = f(a[i])
			}
			return
		}
		for ; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros32(mask) & 31
			d[i] = f(a[i])
		}
	}
}

// mapTwo returns a step that applies a function to two registers.
func mapTwo(d, a, b int, f func(a, b uint64) uint64) step {
	return func(w *warp, mask uint32) {
		d, a, b := &w.r[d], &w.r[a], &w.r[b]
		if mask == allLanes {
			for i := range d {
				d[i] = f(a[i], b[i])
			}
			return
		}
		for ; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros32(mask) & 31
			d[i] = f(a[i], b[i])
		}
	}
}

// mapThree returns a step that applies a function to three registers.
func mapThree(d, a, b, c int, f func(a, b, c uint64) uint64) step {
	return func(w *warp, mask uint32) {
		d, a, b, c := &w.r[d], &w.r[a], &w.r[b], &w.r[c]
		if mask == allLanes {
			for i := range d {
				d[i] = f(a[i], b[i], c[i])
			}
			return
		}
		for ; mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros32(mask) & 31
			d[i] = f(a[i], b[i], c[i])
		}
	}
}

// broadcast writes one value to the lanes of a mask.
func (w *warp) broadcast(d int, mask uint32, v uint64) {
	for ; mask != 0; mask &= mask - 1 {
		w.r[d][bits.TrailingZeros32(mask)] = v
	}
}

// whole returns a step with a separate loop for full warps, for the instructions that
// kernels use most.
func whole(full func(w *warp), any step) step {
	return func(w *warp, mask uint32) {
		if mask == allLanes {
			full(w)
			return
		}
		any(w, mask)
	}
}

// one compiles an instruction with a destination of type d and a source of type a.
func (o *operation) one(d, a valueType, f func(a uint64) uint64) step {
	o.end(2)
	return mapOne(o.destination(d), o.source(1, a), f)
}

func (o *operation) two(d, a, b valueType, f func(a, b uint64) uint64) step {
	o.end(3)
	return mapTwo(o.destination(d), o.source(1, a), o.source(2, b), f)
}

func (o *operation) three(d, a, b, c valueType, f func(a, b, c uint64) uint64) step {
	o.end(4)
	return mapThree(o.destination(d), o.source(1, a), o.source(2, b), o.source(3, c), f)
}

// unary compiles an instruction of one type, destination and source.
func (o *operation) unary(t valueType, f func(a uint64) uint64) step { return o.one(t, t, f) }

func (o *operation) binary(t valueType, f func(a, b uint64) uint64) step { return o.two(t, t, t, f) }

func (o *operation) ternary(t valueType, f func(a, b, c uint64) uint64) step {
	return o.three(t, t, t, t, f)
}
