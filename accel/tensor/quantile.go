package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Median returns the median along an axis, which is removed: of an even number of elements the lower of the two
// in the middle, as torch's median. It is NaN if there is a NaN. The gradient flows to the element, the
// first of equal ones. t has floats, int32 or uint8.
func (t *Tensor) Median(along int) *Tensor {
	return t.ordered("Median", along, func(r *ir.Recorder, n int, at func(i int) *ir.Value) *ir.Value {
		return at((n - 1) / 2)
	})
}

// Quantile returns the value below which the fraction q of the elements along an axis lies, interpolated linearly
// between the elements at ⌊q·(n-1)⌋ and ⌈q·(n-1)⌉ in sorted order, as torch's and NumPy's quantile. The
// axis is removed. It is NaN if there is a NaN. For t [1 2 3 4], Quantile(0.5, 0) is 2.5.
func (t *Tensor) Quantile(q float64, along int) *Tensor {
	if !(q >= 0 && q <= 1) {
		panic(&ShapeError{Op: "Quantile", Shapes: [][]int{t.Shape()}, Hint: fmt.Sprintf("the fraction %v is not in [0, 1]", q)})
	}
	if d := t.DType(); !d.IsFloat() {
		panic(&DTypeError{Op: "Quantile", DTypes: []DType{d}, Hint: "the input must have floats; convert with Cast(tensor.Float32)"})
	}
	return t.ordered("Quantile", along, func(r *ir.Recorder, n int, at func(i int) *ir.Value) *ir.Value {
		below, weight := math.Modf(q * float64(n-1))
		low := at(int(below))
		if weight == 0 {
			return low
		}
		high := at(int(below) + 1)
		distance := r.Record(ir.Sub{}, high, low)
		if weight < 0.5 { // from the nearer one, as torch's lerp
			return r.Add(low, r.MulScalar(distance, weight))
		}
		return r.Record(ir.Sub{}, high, r.MulScalar(distance, 1-weight))
	})
}

// ordered returns what f computes from the n elements along an axis in ascending order, NaN if one is NaN.
func (t *Tensor) ordered(op string, along int, f func(r *ir.Recorder, n int, at func(i int) *ir.Value) *ir.Value) *Tensor {
	shape := t.Shape()
	a := axis(op, shape, along)
	n := shape[a]
	if n == 0 {
		panic(&ShapeError{Op: op, Shapes: [][]int{shape}, Hint: "an empty axis has no elements in order"})
	}
	values, indices := t.sorted(op, along, ir.ArgSort{K: n})
	indices.Release()
	defer values.Release()
	return compute(composite{name: op}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		at := func(i int) *ir.Value {
			x := r.Record(ir.Slice{Axis: a, From: i, To: i + 1}, v[0])
			return r.Reshape(x, slices.Delete(slices.Clone(x.Shape()), a, a+1))
		}
		y := f(r, n, at)
		if !y.DType().IsFloat() {
			return y
		}
		last := at(n - 1) // NaN, if there is one
		return r.Record(ir.Where{}, r.Record(ir.Eq{}, last, last), y, last)
	}, values)
}
