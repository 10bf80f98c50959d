package models

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// split splits the last dimension of x [N, T, heads·d] into heads: [N, heads, T, d].
func split(s *scratch, x *tensor.Tensor, heads int) *tensor.Tensor {
	return s.keep(s.keep(x.Reshape(x.Size(0), x.Size(1), heads, x.Size(2)/heads)).Permute(0, 2, 1, 3))
}

// merge is the inverse of split.
func merge(s *scratch, x *tensor.Tensor) *tensor.Tensor {
	return s.keep(s.keep(x.Permute(0, 2, 1, 3)).Reshape(x.Size(0), x.Size(2), x.Size(1)*x.Size(3)))
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

// scratch collects the intermediate tensors of a forward pass, which are released when its output
// has been recorded. Ops whose results nothing else needs are fused, and take no memory.
type scratch struct{ made []*tensor.Tensor }

func (s *scratch) keep(t *tensor.Tensor) *tensor.Tensor {
	s.made = append(s.made, t)
	return t
}

// run passes x to a module, and keeps the output. A module that a program has put into the model may
// retain both, which are then left to it.
func (s *scratch) run(m nn.Module, x *tensor.Tensor) *tensor.Tensor {
	y := m.Forward(x)
	switch {
	case !layer.RetainsNothing(m):
		s.made = slices.DeleteFunc(s.made, func(t *tensor.Tensor) bool { return t == x })
	case y != x:
		s.keep(y)
	}
	return y
}

// result takes a tensor that run has kept from those to release.
func (s *scratch) result(t *tensor.Tensor) *tensor.Tensor {
	s.made = slices.DeleteFunc(s.made, func(x *tensor.Tensor) bool { return x == t })
	return t
}

// step runs a part of a model, and releases its input and what f has kept.
func step(x *tensor.Tensor, f func(s *scratch, x *tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
	var s scratch
	defer s.release()
	return s.result(f(&s, s.keep(x)))
}

func (s *scratch) release() {
	for _, t := range s.made {
		t.Release()
	}
}

// lastPosition returns the last position of x [N, T, width].
func lastPosition(x *tensor.Tensor) *tensor.Tensor { return x.Slice(1, x.Size(1)-1, x.Size(1)) }
