package tensor

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/ir"
)

// Sum adds up the elements along the axes, which disappear, or all elements if
// none is given. A negative axis counts from the end. The order of the
// additions is fixed by the shape.
func (t *Tensor) Sum(axes ...int) *Tensor {
	return compute("Sum", func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		s, _ := sum(r, "Sum", v[0], axes)
		return s
	}, t)
}

// Mean is Sum divided by the number of elements that were added up; NaN for
// none.
func (t *Tensor) Mean(axes ...int) *Tensor {
	return compute("Mean", func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		s, n := sum(r, "Mean", v[0], axes)
		return r.MulScalar(s, 1/float64(n))
	}, t)
}

// sum records one op for each run of neighbouring axes, the last first.
func sum(r *ir.Recorder, op string, v *ir.Value, axes []int) (*ir.Value, int) {
	shape := v.Shape()
	reduce := make([]bool, len(shape))
	for i := range reduce {
		reduce[i] = len(axes) == 0
	}
	for _, a := range axes {
		reduce[axis(op, shape, a)] = true
	}
	n := 1
	if len(shape) == 0 {
		return r.Record(ir.Sum{}, v), 1
	}
	for to := len(shape); to > 0; to-- {
		if !reduce[to-1] {
			continue
		}
		from := to - 1
		for from > 0 && reduce[from-1] {
			from--
		}
		n *= ir.Len(shape[from:to])
		v = r.Record(ir.Sum{From: from, To: to}, v)
		to = from + 1
	}
	return v, n
}

// Max returns the largest element along an axis, which disappears; NaN if there is
// one. Its gradient is shared by equal elements.
func (t *Tensor) Max(along int) *Tensor {
	return compute("Max", func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return r.Record(ir.Max{Axis: axis("Max", v[0].Shape(), along)}, v[0])
	}, t)
}

// ArgMax returns the int32 index of the first largest element along an axis, which
// disappears.
func (t *Tensor) ArgMax(along int) *Tensor {
	return compute("ArgMax", func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return r.Record(ir.ArgMax{Axis: axis("ArgMax", v[0].Shape(), along)}, v[0])
	}, t)
}

// Min returns the smallest element along an axis, which disappears; NaN if there is
// one. Its gradient is shared by equal elements.
func (t *Tensor) Min(along int) *Tensor {
	return compute("Min", func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		top := r.Record(ir.Max{Axis: axis("Min", v[0].Shape(), along)}, r.Record(ir.Neg{}, v[0]))
		return r.Record(ir.Neg{}, top)
	}, t)
}

// CumSum returns the sum of the elements up to each along an axis.
func (t *Tensor) CumSum(along int) *Tensor {
	return compute("CumSum", func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return r.Record(ir.CumSum{Axis: axis("CumSum", v[0].Shape(), along)}, v[0])
	}, t)
}

// OneHot is t's classes as rows of so many elements, 1 at the class and 0
// elsewhere, as float32. t is int32, int64 or uint8 and may have any shape. It
// panics with an *IndexError if a class is not in 0..classes-1.
func (t *Tensor) OneHot(classes int) *Tensor {
	return compute("OneHot", func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return r.Record(ir.OneHot{Classes: classes}, indices(r, "OneHot", v[0], max(classes, 0)))
	}, t)
}

// Softmax is eᵗ/Σeᵗ along an axis.
func (t *Tensor) Softmax(along int) *Tensor { return t.rows(ir.Softmax{}, along) }

// LogSoftmax returns t - ln Σeᵗ along an axis.
func (t *Tensor) LogSoftmax(along int) *Tensor { return t.rows(ir.LogSoftmax{}, along) }

// rows applies an op of the last axis along any axis.
func (t *Tensor) rows(op ir.Op, along int) *Tensor {
	return compute(op.Name(), func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		n := len(v[0].Shape())
		a := axis(op.Name(), v[0].Shape(), along)
		if a == n-1 {
			return r.Record(op, v[0])
		}
		perm := make([]int, n)
		for i := range perm {
			perm[i] = i
		}
		perm[a], perm[n-1] = n-1, a
		y := r.Record(op, r.Record(ir.Permute{Perm: perm}, v[0]))
		return r.Record(ir.Permute{Perm: slices.Clone(perm)}, y)
	}, t)
}
