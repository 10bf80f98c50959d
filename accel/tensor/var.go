package tensor

import (
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

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
