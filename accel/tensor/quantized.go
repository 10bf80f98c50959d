package tensor

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/integer"
	"github.com/quernlab/quern/accel/internal/ir"
)

// Quantized returns what a network of 8-bit integers makes of x; package quantize makes
// networks of layers. No gradient flows through it. NaN and the infinities in x,
// for which there is no byte, end the run with a *NonFiniteError.
func Quantized(x *Tensor, network *integer.Network) *Tensor {
	return compute("Quantized", func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return r.Record(ir.Quantized{Network: network}, v[0])
	}, x)
}

// ByteLinear is x·wᵀ for x [… In] and weights that are kept as 8-bit integers [Out,
// In]; package quantize makes them. No gradient flows through it.
func ByteLinear(x *Tensor, weights *integer.Weights) *Tensor {
	return compute("ByteLinear", func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		shape := v[0].Shape()
		if len(shape) == 0 || shape[len(shape)-1] != weights.In {
			panic(&ShapeError{Op: "ByteLinear", Shapes: [][]int{slices.Clone(shape)}, Hint: "the last dimension must be that of the weights"})
		}
		lead := slices.Clone(shape[:len(shape)-1])
		rows := r.Reshape(v[0], []int{ir.Len(lead), weights.In})
		return r.Reshape(r.Record(ir.ByteLinear{Weights: weights}, rows), append(lead, weights.Out))
	}, x)
}
