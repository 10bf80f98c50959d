package tensor

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

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

// MaskedCrossEntropy is [CrossEntropy] of the rows whose label is not ignored, such as that of padding; 0 if there
// are none. The others take no time, and their gradient is 0. PyTorch's ignore_index.
func MaskedCrossEntropy(logits, labels *Tensor, ignored int) *Tensor {
	if ignored <= math.MinInt32 || ignored >= math.MaxInt32 {
		panic(&ShapeError{Op: "MaskedCrossEntropy", Hint: fmt.Sprintf("the ignored label %d does not fit into 32 bits", ignored)})
	}
	switch labels.DType() {
	case Int64: // labels that do not fit into 32 bits stay invalid
		labels = labels.Cast(Float64).Clamp(math.MinInt32, math.MaxInt32).Cast(Int32)
	case Uint8:
		labels = labels.Cast(Int32)
	}
	left := labels.EqScalar(float64(ignored))
	kept := left.Not()
	if logits.DType() == Float64 {
		left, kept = left.Cast(Float64), kept.Cast(Float64)
	}
	factor := kept.Add(left).Sum().Div(kept.Sum().Clamp(1, math.Inf(1))) // of the means over all rows and over these
	op := ir.CrossEntropy{Masked: true, Ignored: int32(ignored)}
	return compute(composite{name: "MaskedCrossEntropy", cast: ir.CastFloat32}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return r.Record(ir.Mul{}, r.Record(op, v[0], v[1]), v[2])
	}, logits, labels, factor)
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
