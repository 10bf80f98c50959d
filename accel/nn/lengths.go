package nn

import (
	"fmt"

	"github.com/quernlab/quern/accel/tensor"
)

// paddedLengths returns the lengths [N] of the sequences x [N, T, width] of the running batch, nil if
// they are not padded; see tensor.WithLengths. Sequences of another shape than those of the batch are
// an error, since padding may be anywhere in them.
func paddedLengths(op string, x *Tensor) *Tensor {
	if tensor.Positions() != nil {
		panic(&tensor.StateError{Op: op, Hint: "the rows of the batch are packed sequences, which this layer would mix: train without PackSequences"})
	}
	lengths, positions := tensor.Lengths()
	if lengths == nil || x.NDim() != 3 {
		return nil
	}
	if shape := x.Shape(); shape[0] != lengths.Size(0) || shape[1] != positions {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{shape}, Hint: fmt.Sprintf("the sequences of the batch have the shape [%d %d …] and are padded, but those of this layer have another one, so its padding is unknown: call its method Attend, Encode or Run with the lengths", lengths.Size(0), positions)})
	}
	return lengths
}

// MeanPositions returns a layer that computes the mean over the positions of sequences: [N, T, width]
// becomes [N, width]. Padding of the sequences of data.Sequences does not count.
func MeanPositions() Module { return meanPositions{} }

type meanPositions struct{}

func (m meanPositions) Forward(x *Tensor) *Tensor {
	requireSequences(m, x)
	lengths := paddedLengths("MeanPositions", x)
	if lengths == nil {
		return x.Mean(1)
	}
	var s scratch
	defer s.release()
	n, positions := x.Size(0), x.Size(1)
	at := s.keep(tensor.Arange(0, float64(positions), 1, tensor.Int32))
	valid := s.keep(s.keep(s.keep(lengths.Reshape(n, 1)).Greater(at)).Reshape(n, positions, 1))
	kept := s.keep(tensor.Where(valid, x, s.keep(constant(0, x)))) // not a product, since 0·Inf is NaN
	count := s.keep(s.keep(lengths.Cast(x.DType())).Reshape(n, 1))
	return s.keep(kept.Sum(1)).Div(count)
}

// String returns the layer as Go code.
func (meanPositions) String() string       { return "MeanPositions()" }
func (meanPositions) retainsNothing() bool { return true }

// LastPosition returns a layer that selects the last position of sequences: [N, T, width] becomes
// [N, width]. For the sequences of data.Sequences it is the last one before the padding.
func LastPosition() Module { return lastPosition{} }

type lastPosition struct{}

func (l lastPosition) Forward(x *Tensor) *Tensor {
	requireSequences(l, x)
	lengths := paddedLengths("LastPosition", x)
	n, positions, width := x.Size(0), x.Size(1), x.Size(2)
	var s scratch
	defer s.release()
	if lengths == nil {
		return s.keep(x.Slice(1, positions-1, positions)).Reshape(n, width)
	}
	count := s.keep(tensor.Arange(1, float64(positions+1), 1, tensor.Int32))
	ends := s.keep(s.keep(count.Eq(s.keep(lengths.Reshape(n, 1)))).Reshape(n, positions, 1))
	return s.keep(tensor.Where(ends, x, s.keep(constant(0, x)))).Sum(1)
}

// String returns the layer as Go code.
func (lastPosition) String() string       { return "LastPosition()" }
func (lastPosition) retainsNothing() bool { return true }

// requireSequences panics unless x is [N, T, width] with at least one position.
func requireSequences(layer fmt.Stringer, x *Tensor) {
	if shape := x.Shape(); len(shape) != 3 || shape[1] < 1 {
		panic(&tensor.ShapeError{Op: layer.String(), Shapes: [][]int{shape}, Hint: "the input must be sequences [N, T, width]"})
	}
}

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
