package tensor

import (
	"fmt"
	"math"
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
	along, n := namedAxes(op, shape, axes), 1
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
		a, last := axis(op.Name(), v[0].Shape(), along), len(v[0].Shape())-1
		return exchange(r, r.Record(op, exchange(r, v[0], a, last)), a, last)
	}, t)
}

// Var returns the variance over the axes, which are removed, or over all elements. The sum of
// squared distances is divided by the number of elements less correction, as in torch: 1 estimates
// the variance from a sample, 0 gives that of the elements themselves. It is NaN if the divisor is
// not positive.
func (t *Tensor) Var(correction int, axes ...int) *Tensor {
	return compute(composite{name: "Var"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return variance(r, "Var", v[0], correction, axes)
	}, t)
}

// Std returns the square root of Var. Its gradient is 0 where the result is 0, as in torch.
func (t *Tensor) Std(correction int, axes ...int) *Tensor {
	return compute(composite{name: "Std"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return sqrtZeroGrad(r, variance(r, "Std", v[0], correction, axes))
	}, t)
}

func variance(r *ir.Recorder, op string, v *ir.Value, correction int, axes []int) *ir.Value {
	kept := keepDims(op, v.Shape(), axes)
	distance := r.Record(ir.Sub{}, v, r.Reshape(mean(r, op, v, axes), kept))
	// The mean is rounded, and its error is the same for all elements.
	distance = r.Record(ir.Sub{}, distance, r.Reshape(mean(r, op, distance, axes), kept))
	squares, n := sum(r, op, r.Record(ir.Square{}, distance), axes)
	divisor := float64(n - correction)
	if divisor <= 0 {
		divisor = math.NaN()
	}
	return divide(r, squares, divisor)
}

// keepDims returns the shape with size 1 for the reduced axes.
func keepDims(op string, shape, axes []int) []int {
	s := slices.Clone(shape)
	for a, reduced := range namedAxes(op, shape, axes) {
		if reduced {
			s[a] = 1
		}
	}
	return s
}

// Norm returns the Euclidean norm √Σt² over the axes, which are removed, or over all elements. Its
// gradient is 0 where the norm is 0.
func (t *Tensor) Norm(axes ...int) *Tensor {
	return compute(composite{name: "Norm", cast: ir.CastFloat32}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		s, _ := sum(r, "Norm", r.Record(ir.Square{}, v[0]), axes)
		return sqrtZeroGrad(r, s)
	}, t)
}

// sqrtZeroGrad returns the square root, with a gradient of 0 at 0. The true slope there is infinite;
// multiplied by the gradient 0 of a sum of squares it would be NaN.
func sqrtZeroGrad(r *ir.Recorder, squares *ir.Value) *ir.Value {
	return zeroGradAtZero(r, squares, ir.Sqrt{})
}

// zeroGradAtZero returns a root, with a gradient of 0 at 0: see sqrtZeroGrad.
func zeroGradAtZero(r *ir.Recorder, x *ir.Value, root ir.Op) *ir.Value {
	zero, one := fill(r, 0, x.DType()), fill(r, 1, x.DType())
	none := r.Record(ir.Eq{}, x, zero)
	return r.Record(ir.Where{}, none, zero, r.Record(root, r.Record(ir.Where{}, none, one, x)))
}

// LogSumExp returns ln Σeᵗ along an axis, which is removed. It subtracts the largest element first
// to avoid overflow. It is -Inf if all elements are.
func (t *Tensor) LogSumExp(along int) *Tensor {
	return compute(composite{name: "LogSumExp", cast: ir.CastFloat32}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		x := v[0]
		a := axis("LogSumExp", x.Shape(), along)
		keepShape := slices.Clone(x.Shape())
		keepShape[a] = 1
		top := r.WithoutGrad(func() *ir.Value {
			largest := r.Record(ir.Max{Axis: a}, x)
			infinite := r.Record(ir.Eq{}, r.Record(ir.Abs{}, largest), fill(r, math.Inf(1), x.DType()))
			return r.Record(ir.Where{}, infinite, fill(r, 0, x.DType()), largest)
		})
		e := r.Record(ir.Exp{}, r.Record(ir.Sub{}, x, r.Reshape(top, keepShape)))
		return r.Add(top, r.Record(ir.Log{}, r.Record(ir.Sum{From: a, To: a + 1}, e)))
	}, t)
}

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

// Prod multiplies the elements along the axes, which are removed, or all elements if no axis is given. The
// product of no elements is 1. The gradient is right also where elements are 0: it is the product of the
// others. Elements are multiplied in pairs, then the products in pairs, and so on.
func (t *Tensor) Prod(axes ...int) *Tensor {
	return compute(composite{name: "Prod", cast: ir.CastFloat32}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		x := v[0]
		wantFloat("Prod", x)
		if len(axes) == 0 {
			return product(r, r.Reshape(x, []int{x.Len()}), 0)
		}
		named := namedAxes("Prod", x.Shape(), axes)
		for a := len(named) - 1; a >= 0; a-- {
			if named[a] {
				x = product(r, x, a)
			}
		}
		return x
	}, t)
}

// product multiplies along one axis, the first half by the second until one element is left.
func product(r *ir.Recorder, x *ir.Value, a int) *ir.Value {
	n := x.Shape()[a]
	if n == 0 { // ones that depend on x, as the results of other sizes do
		return r.Record(ir.AddScalar{Scalar: 1}, r.Record(ir.Sum{From: a, To: a + 1}, x))
	}
	part := func(from, to int) *ir.Value { return r.Record(ir.Slice{Axis: a, From: from, To: to}, x) }
	var odd *ir.Value // the product of the elements that had no partner
	for n > 1 {
		switch {
		case n%2 == 0:
		case odd == nil:
			odd = part(n-1, n)
		default:
			odd = r.Mul(odd, part(n-1, n))
		}
		n /= 2
		x = r.Mul(part(0, n), part(n, 2*n))
	}
	if odd != nil {
		x = r.Mul(x, odd)
	}
	return r.Reshape(x, slices.Delete(slices.Clone(x.Shape()), a, a+1))
}

// CumProd returns the cumulative product along an axis. Its gradient is right also where elements are 0. It
// takes ⌈log₂ n⌉ multiplications of all n elements along the axis.
func (t *Tensor) CumProd(along int) *Tensor {
	return compute(composite{name: "CumProd", cast: ir.CastFloat32}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		x := v[0]
		wantFloat("CumProd", x)
		return r.Scan(ir.Mul{}, x, axis("CumProd", x.Shape(), along), false)
	}, t)
}
