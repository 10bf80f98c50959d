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

// unary compiles an instruction of one type, destination and source.
func (o *operation) unary(t valueType, f func(a uint64) uint64) step {
	if !o.end(2) {
		return nil
	}
	d, a := o.destination(t), o.source(1, t)
	return mapOne(d, a, f)
}

func (o *operation) binary(t valueType, f func(a, b uint64) uint64) step {
	if !o.end(3) {
		return nil
	}
	d, a, b := o.destination(t), o.source(1, t), o.source(2, t)
	return mapTwo(d, a, b, f)
}

func (o *operation) ternary(t valueType, f func(a, b, c uint64) uint64) step {
	if !o.end(4) {
		return nil
	}
	d, a, b, c := o.destination(t), o.source(1, t), o.source(2, t), o.source(3, t)
	return mapThree(d, a, b, c, f)
}
