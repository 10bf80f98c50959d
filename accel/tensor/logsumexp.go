package tensor

import (
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// LogSumExp returns ln Σeᵗ along an axis, which is removed. It subtracts the largest element first
// to avoid overflow. It is -Inf if all elements are.
func (t *Tensor) LogSumExp(along int) *Tensor {
	return compute(composite{name: "LogSumExp", cast: ir.CastFloat32}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		x := v[0]
		a := axis("LogSumExp", x.Shape(), along)
		keepShape := slices.Clone(x.Shape())
		keepShape[a] = 1
		r.NoGrad(1)
		top := r.Record(ir.Max{Axis: a}, x)
		infinite := r.Record(ir.Eq{}, r.Record(ir.Abs{}, top), fill(r, math.Inf(1), x.DType()))
		top = r.Record(ir.Where{}, infinite, fill(r, 0, x.DType()), top)
		r.NoGrad(-1)
		e := r.Record(ir.Exp{}, r.Record(ir.Sub{}, x, r.Reshape(top, keepShape)))
		return r.Add(top, r.Record(ir.Log{}, r.Record(ir.Sum{From: a, To: a + 1}, e)))
	}, t)
}
