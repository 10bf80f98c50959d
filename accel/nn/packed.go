package nn

import (
	"fmt"

	"github.com/quernlab/quern/accel/tensor"
)

// packedPositions returns the position [N, T] of each token of x [N, T, width] in its sequence, nil if no
// sequences are packed in the rows of the running batch; see tensor.WithPositions.
func packedPositions(op string, x *Tensor) *Tensor {
	positions := tensor.Positions()
	if positions == nil || x.NDim() != 3 {
		return nil
	}
	if n, t := positions.Size(0), positions.Size(1); x.Size(0) != n || x.Size(1) != t {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{x.Shape()}, Hint: fmt.Sprintf("the rows of the batch have the shape [%d %d …] and are packed, but those of this layer have another one, so its sequences are unknown: call its method Attend or Encode with a mask", n, t)})
	}
	return positions
}

// ownSequence returns what hides the padding of the sequences x [N, T, width], or in packed rows the other
// sequences of the row. The mask belongs to s.
func ownSequence(s *scratch, op string, x *Tensor) tensor.AttentionMask {
	positions := packedPositions(op, x)
	if positions == nil {
		return tensor.AttentionMask{Lengths: paddedLengths(op, x)}
	}
	n, t := x.Size(0), x.Size(1)
	at := s.keep(tensor.Arange(0, float64(t), 1, tensor.Float32))
	begin := s.keep(at.Sub(s.keep(positions.Cast(tensor.Float32)))) // [N, T]: where the sequence of a token begins
	return tensor.AttentionMask{Mask: s.keep(s.keep(begin.Reshape(n, 1, t, 1)).Eq(s.keep(begin.Reshape(n, 1, 1, t))))}
}
