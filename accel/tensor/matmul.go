package tensor

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// MatMul multiplies the matrices t [M, K] and o [K, N], or those of batches [B…, M, K] and [B…, K,
// N], whose leading dimensions broadcast.
func (t *Tensor) MatMul(o *Tensor) *Tensor {
	return compute(ir.MatMul{}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		a, b := v[0].Shape(), v[1].Shape()
		if n := len(a); n > 2 && len(b) == 2 && a[n-1] == b[0] { // one large multiplication
			y := r.Record(ir.MatMul{}, r.Reshape(v[0], []int{ir.Len(a[:n-1]), a[n-1]}), v[1])
			return r.Reshape(y, append(slices.Clone(a[:n-1]), b[1]))
		}
		return r.Record(ir.MatMul{}, v[0], v[1])
	}, t, o)
}

// Linear returns x·wᵀ + b for x [N…, In], w [Out, In] and b [Out], which may be nil. A following
// ReLU is fused into it.
func Linear(x, w, b *Tensor) *Tensor {
	in := []*Tensor{x, w}
	if b != nil {
		in = append(in, b)
	}
	if y := linearFP8(in); y != nil {
		return y
	}
	return compute(ir.Linear{}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		shape := v[0].Shape()
		if len(v[1].Shape()) != 2 || len(shape) == 0 || shape[len(shape)-1] != v[1].Shape()[1] {
			panic(&ShapeError{Op: "Linear", Shapes: [][]int{slices.Clone(shape), slices.Clone(v[1].Shape())}, Hint: "x must be [N In] and w [Out In]"})
		}
		features := v[1].Shape()[1]
		rows := r.Reshape(v[0], []int{ir.Len(shape[:len(shape)-1]), features})
		var y *ir.Value
		if b != nil && v[0].DType() == Float64 {
			y = r.Add(r.Record(ir.MatMul{}, rows, r.Record(ir.Permute{Perm: []int{1, 0}}, v[1])), v[2])
		} else if b != nil {
			y = r.Record(ir.Linear{}, rows, v[1], v[2])
		} else {
			y = r.Record(ir.MatMul{}, rows, r.Record(ir.Permute{Perm: []int{1, 0}}, v[1]))
		}
		return r.Reshape(y, append(slices.Clone(shape[:len(shape)-1]), v[1].Shape()[0]))
	}, in...)
}
