package tensor

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Sum adds the elements along the axes, which are removed, or all elements if no axis is given. A
// negative axis counts from the end. The shape alone determines the order of the additions. The sum of int32 or uint8 is
// int64 and exact.
func (t *Tensor) Sum(axes ...int) *Tensor {
	return compute(ir.Sum{}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		s, _ := sum(r, "Sum", v[0], axes)
		return s
	}, t)
}

// Mean returns Sum divided by the number of elements in each sum, NaN if there are none.
func (t *Tensor) Mean(axes ...int) *Tensor {
	return compute(composite{name: "Mean"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return mean(r, "Mean", v[0], axes)
	}, t)
}

// mean records a mean of means for several runs of adjacent axes.
func mean(r *ir.Recorder, op string, v *ir.Value, axes []int) *ir.Value {
	if r.Tracing() { // an export finds the mean by the factor, which depends on the size of the input
		s, n := sum(r, op, v, axes)
		return r.MulScalar(s, 1/float64(n))
	}
	m, _ := reduce(r, op, v, axes, true)
	return m
}

// divide records v/n, of which the product with 1/n differs in the last bit.
func divide(r *ir.Recorder, v *ir.Value, n float64) *ir.Value {
	if r.Tracing() { // an export finds the mean by this factor, which depends on the size of the input
		return r.MulScalar(v, 1/n)
	}
	return r.Record(ir.Div{}, v, r.Record(ir.Fill{Value: n, Shape: []int{}, DType: v.DType()}))
}

// sum records one op for each run of adjacent axes, from the last to the first. It also returns the
// number of elements in each sum.
func sum(r *ir.Recorder, op string, v *ir.Value, axes []int) (*ir.Value, int) {
	return reduce(r, op, v, axes, false)
}

func reduce(r *ir.Recorder, op string, v *ir.Value, axes []int, mean bool) (*ir.Value, int) {
	shape := v.Shape()
	along := make([]bool, len(shape))
	for i := range along {
		along[i] = len(axes) == 0
	}
	for _, a := range axes {
		along[axis(op, shape, a)] = true
	}
	n := 1
	if len(shape) == 0 {
		return r.Record(ir.Sum{Mean: mean}, v), 1
	}
	for to := len(shape); to > 0; to-- {
		if !along[to-1] {
			continue
		}
		from := to - 1
		for from > 0 && along[from-1] {
			from--
		}
		n *= ir.Len(shape[from:to])
		v = r.Record(ir.Sum{From: from, To: to, Mean: mean}, v)
		to = from + 1
	}
	return v, n
}

// Max returns the largest element along the axes, which are removed, or of all elements if no axis is given; NaN if
// there is a NaN. Equal elements share the gradient.
func (t *Tensor) Max(axes ...int) *Tensor {
	return compute(ir.Max{}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		x, a := merged(r, "Max", v[0], axes)
		return r.Record(ir.Max{Axis: a}, x)
	}, t)
}

// merged returns x with the axes as a single one, and which that is.
func merged(r *ir.Recorder, op string, x *ir.Value, axes []int) (v *ir.Value, at int) {
	shape := x.Shape()
	if len(axes) == 1 {
		return x, axis(op, shape, axes[0])
	}
	var order, last []int
	to, n := []int{}, 1
	for a, named := range namedAxes(op, shape, axes) {
		if named {
			last, n = append(last, a), n*shape[a]
		} else {
			order, to = append(order, a), append(to, shape[a])
		}
	}
	if order = append(order, last...); !slices.IsSorted(order) {
		x = r.Record(ir.Permute{Perm: order}, x)
	}
	return r.Reshape(x, append(to, n)), len(to)
}

// ArgMax returns the index, int32, of the first largest element along an axis, which is removed; NaN
// counts as the largest.
func (t *Tensor) ArgMax(along int) *Tensor {
	return compute(ir.ArgMax{}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return r.Record(ir.ArgMax{Axis: axis("ArgMax", v[0].Shape(), along)}, v[0])
	}, t)
}

// ArgMin returns the index, int32, of the first smallest element along an axis, which is removed; NaN
// counts as the smallest.
func (t *Tensor) ArgMin(along int) *Tensor {
	return compute(composite{name: "ArgMin"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return r.Record(ir.ArgMax{Axis: axis("ArgMin", v[0].Shape(), along)}, r.Record(ir.Neg{}, v[0]))
	}, t)
}

// Min returns the smallest element along the axes, which are removed, or of all elements if no axis is given; NaN if
// there is a NaN. Equal elements share the gradient.
func (t *Tensor) Min(axes ...int) *Tensor {
	return compute(composite{name: "Min"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		x, a := merged(r, "Min", v[0], axes)
		return r.Record(ir.Neg{}, r.Record(ir.Max{Axis: a}, r.Record(ir.Neg{}, x)))
	}, t)
}

// CumSum returns the cumulative sum along an axis.
func (t *Tensor) CumSum(along int) *Tensor {
	return compute(ir.CumSum{}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return r.Record(ir.CumSum{Axis: axis("CumSum", v[0].Shape(), along)}, v[0])
	}, t)
}

// Any returns 1 where an element along the axes, which are removed, is not 0, else 0, as float32; without
// an axis, for all elements. t has any element type, and NaN is not 0. Any of no elements is 0.
func (t *Tensor) Any(axes ...int) *Tensor {
	return arrange(composite{name: "Any"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		s, _ := sum(r, "Any", nonzero(r, v[0]), axes)
		return r.Record(ir.Greater{}, s, fill(r, 0, Float32))
	}, t)
}

// All returns 1 where no element along the axes, which are removed, is 0, else 0, as float32; see Any.
// All of no elements is 1.
func (t *Tensor) All(axes ...int) *Tensor {
	return arrange(composite{name: "All"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		s, _ := sum(r, "All", r.Record(ir.Not{}, nonzero(r, v[0])), axes)
		return r.Record(ir.Eq{}, s, fill(r, 0, Float32))
	}, t)
}

// nonzero returns 1 where v is not 0, else 0, as float32.
func nonzero(r *ir.Recorder, v *ir.Value) *ir.Value {
	if v.DType() == Float32 {
		return r.Record(ir.Not{}, r.Record(ir.Not{}, v))
	}
	return cast(r, cast(r, v, Bool), Float32)
}

// OneHot returns a float32 row of the given number of classes for each element of t, 1 at the class
// and 0 elsewhere. t is int32, int64 or uint8 and has any shape. It panics with an *IndexError if a
// class is not in 0..classes-1.
func (t *Tensor) OneHot(classes int) *Tensor {
	return compute(ir.OneHot{}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return r.Record(ir.OneHot{Classes: classes}, indices(r, "OneHot", v[0], max(classes, 0)))
	}, t)
}

// Softmax returns eᵗ/Σeᵗ along an axis.
func (t *Tensor) Softmax(along int) *Tensor { return t.rows(ir.Softmax{}, along) }

// LogSoftmax returns t - ln Σeᵗ along an axis.
func (t *Tensor) LogSoftmax(along int) *Tensor { return t.rows(ir.LogSoftmax{}, along) }

// rows applies an op of the last axis along any axis, by transposing.
func (t *Tensor) rows(op ir.Op, along int) *Tensor {
	return compute(op, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
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
