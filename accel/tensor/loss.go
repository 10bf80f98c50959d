package tensor

import "github.com/quernlab/quern/accel/internal/ir"

// CrossEntropy returns the mean of -ln softmax(logits)[label] over the rows, a scalar, for logits
// [N, C] and integer labels [N]. It panics with an *IndexError if a label is not in 0..C-1.
func CrossEntropy(logits, labels *Tensor) *Tensor {
	return compute(ir.CrossEntropy{}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		x, y := v[0], v[1]
		if s, n := x.Shape(), y.Shape(); len(s) == 2 && len(n) == 1 && n[0] == s[0] {
			y = indices(r, "CrossEntropy", y, s[1])
		}
		return r.Record(ir.CrossEntropy{}, x, y)
	}, logits, labels)
}

// MSE returns the mean of (prediction - target)², a scalar. Both must have the same shape.
func MSE(prediction, target *Tensor) *Tensor {
	return compute(composite{name: "MSE", cast: ir.CastFloat32}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		d := r.Record(ir.Sub{}, v[0], v[1])
		if d.Len() != v[0].Len() || d.Len() != v[1].Len() {
			panic(&ShapeError{Op: "MSE", Shapes: [][]int{v[0].Shape(), v[1].Shape()}, Hint: "the shapes must be equal"})
		}
		return mean(r, "MSE", r.Record(ir.Square{}, d), nil)
	}, prediction, target)
}
