package tensor

import (
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/ir"
)

// Var returns the mean of the squared distances from the mean over the axes, which
// disappear, or over all elements; correction is taken off the number of
// elements that the sum is divided by: 1 for an estimate from a sample, 0 for
// the elements themselves. NaN if nothing is left to divide by.
func (t *Tensor) Var(correction int, axes ...int) *Tensor {
	return compute("Var", func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return variance(r, "Var", v[0], correction, axes)
	}, t)
}

// Std returns the square root of Var. Its gradient is 0 where it is 0, as torch's.
func (t *Tensor) Std(correction int, axes ...int) *Tensor {
	return compute("Std", func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return root(r, variance(r, "Std", v[0], correction, axes))
	}, t)
}

func variance(r *ir.Recorder, op string, v *ir.Value, correction int, axes []int) *ir.Value {
	s, n := sum(r, op, v, axes)
	mean := r.MulScalar(s, 1/float64(n))
	distance := r.Record(ir.Sub{}, v, r.Reshape(mean, kept(op, v.Shape(), axes)))
	squares, _ := sum(r, op, r.Record(ir.Square{}, distance), axes)
	divisor := float64(n - correction)
	if divisor <= 0 {
		divisor = math.NaN()
	}
	return r.MulScalar(squares, 1/divisor)
}

// kept returns the shape with size one where axes are reduced.
func kept(op string, shape, axes []int) []int {
	s := slices.Clone(shape)
	for i := range s {
		if len(axes) == 0 {
			s[i] = 1
		}
	}
	for _, a := range axes {
		s[axis(op, shape, a)] = 1
	}
	return s
}

// Norm returns the Euclidean norm √Σt² over the axes, which disappear, or over all
// elements. Its gradient is 0 where the norm is 0.
func (t *Tensor) Norm(axes ...int) *Tensor {
	return compute("Norm", func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		s, _ := sum(r, "Norm", r.Record(ir.Square{}, v[0]), axes)
		return root(r, s)
	}, t)
}

// root returns the square root with a gradient of 0 at 0, where its slope is infinite:
// times the 0 that a sum of squares has for a gradient there, that would be NaN.
func root(r *ir.Recorder, squares *ir.Value) *ir.Value {
	zero, one := fill(r, 0, squares.DType()), fill(r, 1, squares.DType())
	none := r.Record(ir.Eq{}, squares, zero)
	return r.Record(ir.Where{}, none, zero, r.Record(ir.Sqrt{}, r.Record(ir.Where{}, none, one, squares)))
}

// LogSumExp is ln Σeᵗ along an axis, which disappears, with the largest element
// taken off first so that it does not overflow; -Inf if all elements are.
func (t *Tensor) LogSumExp(along int) *Tensor {
	return compute("LogSumExp", func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		x := v[0]
		a := axis("LogSumExp", x.Shape(), along)
		wide := slices.Clone(x.Shape())
		wide[a] = 1
		r.NoGrad(1)
		top := r.Record(ir.Max{Axis: a}, x)
		infinite := r.Record(ir.Eq{}, r.Record(ir.Abs{}, top), fill(r, math.Inf(1), x.DType()))
		top = r.Record(ir.Where{}, infinite, fill(r, 0, x.DType()), top)
		r.NoGrad(-1)
		e := r.Record(ir.Exp{}, r.Record(ir.Sub{}, x, r.Reshape(top, wide)))
		return r.Add(top, r.Record(ir.Log{}, r.Record(ir.Sum{From: a, To: a + 1}, e)))
	}, t)
}

func fill(r *ir.Recorder, value float64, d DType) *ir.Value {
	return r.Record(ir.Fill{Value: value, Shape: []int{}, DType: d})
}
