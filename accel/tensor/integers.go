package tensor

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Arithmetic of int32 and uint8 is computed with float64, which has all integers up to 2⁵³, so that no digit is lost and
// no device needs further kernels. Results that are too large wrap around, as in Go and PyTorch.

// isWhole reports whether all values are int32, or all are uint8.
func isWhole(values []*ir.Value) bool {
	if len(values) == 0 {
		return false
	}
	d := values[0].DType()
	for _, v := range values {
		if v.DType() != d {
			return false
		}
	}
	return d == Int32 || d == Uint8
}

// recordWhole records an elementwise op on integers; ok is false if it is none that integers have.
func recordWhole(r *ir.Recorder, op ir.Op, values []*ir.Value) (y *ir.Value, ok bool) {
	if w, isWhere := op.(ir.Where); isWhere {
		if !isWhole(values[1:]) {
			return nil, false
		}
		wide := inFloat64(r, values[1:])
		mask := r.Record(ir.Cast{To: Float32}, values[0])
		return r.Record(ir.Cast{To: values[1].DType()}, r.Record(w, mask, wide[0], wide[1])), true
	}
	if !isWhole(values) {
		return nil, false
	}
	d := values[0].DType()
	switch op := op.(type) {
	case ir.Maximum, ir.Minimum:
		return r.Record(ir.Cast{To: d}, r.Record(op, inFloat64(r, values)...)), true
	case ir.Add, ir.Sub, ir.Neg, ir.Abs:
		y = r.Record(op, inFloat64(r, values)...)
	case ir.Mul:
		wide := inFloat64(r, values)
		y = wholeProduct(r, wide[0], wide[1])
	case ir.Square:
		x := inFloat64(r, values)[0]
		y = wholeProduct(r, x, x)
	case ir.AddScalar:
		wantWhole("AddScalar", op.Scalar, d)
		y = r.Record(op, inFloat64(r, values)...)
	case ir.MulScalar:
		wantWhole("MulScalar", op.Scalar, d)
		x := inFloat64(r, values)[0]
		y = wholeProduct(r, x, fill(r, op.Scalar, Float64))
	default:
		return nil, false
	}
	return r.Record(ir.Cast{To: d}, wrapped(r, y, d)), true
}

// wantWhole panics with a *DTypeError unless a number that is added to integers, or multiplies them, is one itself.
func wantWhole(op string, v float64, d DType) {
	if v != math.Trunc(v) || math.Abs(v) > 1<<31 {
		panic(&DTypeError{Op: op, DTypes: []DType{d}, Hint: fmt.Sprintf("%v is no integer from -2³¹ to 2³¹; convert with Cast(tensor.Float32) or Cast(tensor.Float64)", v)})
	}
}

func inFloat64(r *ir.Recorder, values []*ir.Value) []*ir.Value {
	wide := make([]*ir.Value, len(values))
	for i, v := range values {
		wide[i] = r.Record(ir.Cast{To: Float64}, v)
	}
	return wide
}

// wholeProduct multiplies integers up to 2³¹, except for a multiple of 2³². It divides the second factor into
// two halves of 16 bits, so that every product is exact.
func wholeProduct(r *ir.Recorder, a, b *ir.Value) *ir.Value {
	const half = 1 << 16
	low, high := divided(r, b, half)
	top, _ := divided(r, r.Mul(a, high), half) // what is left out is a multiple of 2³² in the end
	return r.Record(ir.Add{}, r.Mul(a, low), r.MulScalar(top, half))
}

// divided returns the remainder, which is not negative, and the quotient, which is rounded down, by a power of 2.
func divided(r *ir.Recorder, x *ir.Value, by float64) (remainder, quotient *ir.Value) {
	quotient = r.Record(ir.Floor{}, r.MulScalar(x, 1/by))
	return r.Record(ir.Sub{}, x, r.MulScalar(quotient, by)), quotient
}

// wrapped returns whole numbers in the range of an integer type, which differ by a multiple of its size.
func wrapped(r *ir.Recorder, x *ir.Value, d DType) *ir.Value {
	if d == Uint8 {
		remainder, _ := divided(r, x, 1<<8)
		return remainder
	}
	remainder, _ := divided(r, r.Record(ir.AddScalar{Scalar: 1 << 31}, x), 1<<32)
	return r.Record(ir.AddScalar{Scalar: -1 << 31}, remainder)
}

// mostAdded is how many int32 a sum may have, so that none can be larger than 2⁵³.
const mostAdded = 1 << 22

// computeWhole records the ops that f makes from a tensor of integers, for the reductions that have them; ok is false for
// others. Sums are int64, as in PyTorch.
func computeWhole(r *ir.Recorder, op string, f func(r *ir.Recorder, v []*ir.Value) *ir.Value, values []*ir.Value) (y *ir.Value, ok bool) {
	if len(values) != 1 || !isWhole(values) {
		return nil, false
	}
	x := values[0]
	switch op {
	case "Sum", "CumSum":
		y = f(r, inFloat64(r, values))
		n := x.Len() / max(y.Len(), 1)
		if op == "CumSum" {
			n = x.Len()
		}
		if x.DType() == Int32 && n > mostAdded {
			panic(&DTypeError{Op: op, DTypes: []DType{Int32}, Hint: fmt.Sprintf("a sum of more than %d integers may be too large to be exact; convert with Cast(tensor.Float64)", mostAdded)})
		}
		return r.Record(ir.Cast{To: Int64}, y), true
	case "Max", "Min", "Clamp":
		return r.Record(ir.Cast{To: x.DType()}, f(r, inFloat64(r, values))), true
	case "ArgMax", "ArgMin":
		return f(r, inFloat64(r, values)), true
	}
	return nil, false
}
