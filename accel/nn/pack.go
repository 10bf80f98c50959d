package nn

import (
	"fmt"

	"github.com/quernlab/quern/accel/tensor"
)

// Pack combines several tensors [N, …] into one, [N, total], with the values of each example one
// after the other. A model with several outputs returns them packed; the loss function divides
// them with [Unpack]. The tensors must have the same number of examples and element type.
func Pack(tensors ...*Tensor) *Tensor {
	requireArgument(len(tensors) > 0, "Pack", "there are no tensors")
	flat := make([]*Tensor, len(tensors))
	for i, t := range tensors {
		if t.NDim() == 0 || t.Size(0) != tensors[0].Size(0) {
			panic(&tensor.ShapeError{Op: "Pack", Shapes: [][]int{tensors[0].Shape(), t.Shape()}, Hint: "the tensors must have the same number of examples in the first dimension"})
		}
		flat[i] = t.Reshape(t.Size(0), product(t.Shape()[1:]))
	}
	return tensor.Concat(1, flat...)
}

// Unpack divides a tensor that [Pack] or data.Inputs has combined: x [N, total] into tensors
// [N, shape…], one for each shape of an example.
func Unpack(x *Tensor, shapes ...[]int) []*Tensor {
	total := 0
	for _, s := range shapes {
		total += product(s)
	}
	if x.NDim() != 2 || x.Size(1) != total {
		panic(&tensor.ShapeError{Op: "Unpack", Shapes: [][]int{x.Shape()}, Hint: fmt.Sprintf("examples of the shapes %v have %d values together, so x must be [N %d]", shapes, total, total)})
	}
	parts := make([]*Tensor, len(shapes))
	at := 0
	for i, s := range shapes {
		part := x.Slice(1, at, at+product(s))
		at += product(s)
		parts[i] = part.Reshape(append([]int{x.Size(0)}, s...)...)
	}
	return parts
}
