package tensor

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/integer"
	"github.com/quernlab/quern/accel/internal/ir"
)

// Quantized returns the output of a network of 8-bit integers for x; package quantize makes such
// networks from layers. No gradient flows through it. If x has NaN or an infinity, which int8
// cannot represent, the run fails with a *NonFiniteError.
func Quantized(x *Tensor, network *integer.Network) *Tensor {
	return compute(ir.Quantized{}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return r.Record(ir.Quantized{Network: network}, v[0])
	}, x)
}

// Int8Linear returns x·wᵀ for x [… In] and int8 weights [Out, In], which package quantize makes. No
// gradient flows through it.
func Int8Linear(x *Tensor, weights *integer.Weights) *Tensor {
	return compute(ir.Int8Linear{}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		shape := v[0].Shape()
		if len(shape) == 0 || shape[len(shape)-1] != weights.In {
			panic(&ShapeError{Op: "Int8Linear", Shapes: [][]int{slices.Clone(shape)}, Hint: fmt.Sprintf("the last dimension must be %d, the number of input features of the weights", weights.In)})
		}
		lead := slices.Clone(shape[:len(shape)-1])
		rows := r.Reshape(v[0], []int{ir.Len(lead), weights.In})
		return r.Reshape(r.Record(ir.Int8Linear{Weights: weights}, rows), append(lead, weights.Out))
	}, x)
}
