package tensor

import "github.com/quernlab/quern/accel/internal/engine/ir"

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
