package nn

import (
	"fmt"

	"github.com/quernlab/quern/accel/tensor"
)

// Embedding returns a layer that maps token indices [N, T] to trained vectors [N, T, width].
// The indices are integers below tokens, of an integer type or of float32. The initial vectors
// are drawn from the standard normal distribution.
func Embedding(tokens, width int) Module { return &embedding{tokens: tokens, width: width} }

type embedding struct {
	lazyState
	weight        *Tensor // [tokens, width], nil before the first input
	tokens, width int
}

func (e *embedding) Forward(x *Tensor) *Tensor { return e.vectors("Embedding", e, x) }

// vectors returns the vector of each index, and creates all vectors at the first input.
func (e *embedding) vectors(op string, layer fmt.Stringer, x *Tensor) *Tensor {
	if e.weight == nil {
		if e.tokens < 1 || e.width < 1 {
			panic(&tensor.ShapeError{Op: op, Shapes: [][]int{x.Shape()}, Hint: fmt.Sprintf("%v must have at least one token and a width of at least 1", layer)})
		}
		e.weight = tensor.Randn(tensor.WeightGenerator(), e.tokens, e.width)
		e.weight.SetRequiresGrad(!e.frozen)
	}
	if !x.DType().IsFloat() {
		return tensor.Embedding(e.weight, x)
	}
	index := x.Cast(tensor.Int32)
	defer index.Release()
	return tensor.Embedding(e.weight, index)
}

func (e *embedding) String() string     { return fmt.Sprintf("Embedding(%d, %d)", e.tokens, e.width) }
func (*embedding) retainsNothing() bool { return true }

// PositionEmbedding returns a layer that adds a trained vector for each position to sequences
// [N, T, width], so that the model can use positions. A T above length is a [*LengthError]. The initial
// vectors are drawn from the standard normal distribution, like those of [Embedding]; with
// smaller ones models learn the use of positions only slowly. In the rows of data.Dataset.PackSequences
// positions restart with each sequence, and an index above length is a *tensor.IndexError.
func PositionEmbedding(length, width int) Module { return &posEmbedding{length: length, width: width} }

type posEmbedding struct {
	lazyState
	weight        *Tensor // [length, width], nil before the first input
	length, width int
}

func (e *posEmbedding) Forward(x *Tensor) *Tensor {
	shape := x.Shape()
	if positions := packedPositions("PositionEmbedding", x); positions != nil {
		e.prepare(shape, true) // the row may be longer than its sequences
		vectors := tensor.Embedding(e.weight, positions)
		defer vectors.Release()
		return x.Add(vectors)
	}
	e.prepare(shape, false)
	vectors := e.weight.Slice(0, 0, shape[1]) // also for the longest sequence: one plan for all lengths
	defer vectors.Release()
	return x.Add(vectors)
}

// prepare checks the shape of an input, whose rows may be packed sequences, and creates the vectors.
func (e *posEmbedding) prepare(shape []int, packed bool) {
	if len(shape) != 3 || shape[2] != e.width || e.length < 1 {
		panic(&tensor.ShapeError{Op: "PositionEmbedding", Shapes: [][]int{shape}, Hint: fmt.Sprintf("%v takes sequences [N, T, %d] with T of at most %d", e, e.width, e.length)})
	}
	if !packed && shape[1] > e.length {
		panic(&LengthError{Layer: e.String(), Length: shape[1], Longest: e.length})
	}
	if e.weight == nil {
		e.weight = tensor.Randn(tensor.WeightGenerator(), e.length, e.width)
		e.weight.SetRequiresGrad(!e.frozen)
	}
}

func (e *posEmbedding) String() string {
	return fmt.Sprintf("PositionEmbedding(%d, %d)", e.length, e.width)
}
func (*posEmbedding) retainsNothing() bool { return true }

// MaxLength returns the number of positions.
func (e *posEmbedding) MaxLength() int { return e.length }

// MaxLength returns the length of the longest sequence that a model takes: the minimum over its
// [PositionEmbedding] layers and modules with a method MaxLength() int, or 0 if it has none.
func MaxLength(model any) int {
	longest := 0
	walk(model, func(_ []string, v any) {
		if m, ok := v.(interface{ MaxLength() int }); ok && (longest == 0 || m.MaxLength() < longest) {
			longest = m.MaxLength()
		}
	})
	return longest
}
