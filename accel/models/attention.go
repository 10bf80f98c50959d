package models

import (
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// split splits the last dimension of x [N, T, heads·d] into heads: [N, heads, T, d].
func split(x *tensor.Tensor, heads int) *tensor.Tensor {
	return x.Reshape(x.Size(0), x.Size(1), heads, x.Size(2)/heads).Permute(0, 2, 1, 3)
}

// merge is the inverse of split.
func merge(x *tensor.Tensor) *tensor.Tensor {
	return x.Permute(0, 2, 1, 3).Reshape(x.Size(0), x.Size(2), x.Size(1)*x.Size(3))
}

// checkTokens panics unless ids are tokens [N, T] with at most limit positions in all.
func checkTokens(op string, ids *tensor.Tensor, before, limit int) {
	shape := ids.Shape()
	if len(shape) != 2 {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{shape}, Hint: "the input must be tokens [N, T]"})
	}
	if n := before + shape[1]; n > limit {
		panic(&nn.LengthError{Layer: op, Length: n, Longest: limit})
	}
}

// lastPosition returns the last position of x [N, T, width].
func lastPosition(x *tensor.Tensor) *tensor.Tensor { return x.Slice(1, x.Size(1)-1, x.Size(1)) }
