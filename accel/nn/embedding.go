package nn

import (
	"fmt"

	"github.com/quernlab/quern/accel/tensor"
)

// Embedding has a vector of numbers for each of so many tokens: it maps token
// indices [N, T] to [N, T, width]. The indices are integers, of an integer type
// or of float32. The vectors start from the standard normal distribution.
func Embedding(tokens, width int) Module { return &embedding{tokens: tokens, width: width} }

type embedding struct {
	untouched
	weight        *Tensor // [tokens, width], nil before the first input
	tokens, width int
}

func (e *embedding) Forward(x *Tensor) *Tensor {
	if e.weight == nil {
		if e.tokens < 1 || e.width < 1 {
			panic(&tensor.ShapeError{Op: "Embedding", Shapes: [][]int{x.Shape()}, Hint: fmt.Sprintf("%v must have at least one token and a width of at least 1", e)})
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

func (e *embedding) String() string { return fmt.Sprintf("Embedding(%d, %d)", e.tokens, e.width) }
func (*embedding) private() bool    { return true }

// PositionEmbedding adds to each place of a sequence [N, T, width] a vector of its
// own, which is trained: it tells the model where a token is. Sequences may be
// as long as length. The vectors start from the standard normal distribution, as
// those of [Embedding]: with smaller ones it takes a model long to find out where
// it is.
func PositionEmbedding(length, width int) Module { return &posEmbedding{length: length, width: width} }

type posEmbedding struct {
	untouched
	weight        *Tensor // [length, width], nil before the first input
	length, width int
}

func (e *posEmbedding) Forward(x *Tensor) *Tensor {
	shape := x.Shape()
	if len(shape) != 3 || shape[1] > e.length || shape[2] != e.width || e.length < 1 {
		panic(&tensor.ShapeError{Op: "PositionEmbedding", Shapes: [][]int{shape}, Hint: fmt.Sprintf("%v takes [N, T, %d] with T up to %d", e, e.width, e.length)})
	}
	if e.weight == nil {
		e.weight = tensor.Randn(tensor.WeightGenerator(), e.length, e.width)
		e.weight.SetRequiresGrad(!e.frozen)
	}
	places := e.weight.Slice(0, 0, shape[1]) // of the longest sequence too: one computation for all
	defer places.Release()
	return x.Add(places)
}

func (e *posEmbedding) String() string {
	return fmt.Sprintf("PositionEmbedding(%d, %d)", e.length, e.width)
}
func (*posEmbedding) private() bool { return true }

// MaxLength returns the length of the longest sequence that a model takes: the least
// of its [PositionEmbedding] layers, or 0 where there is none.
func MaxLength(model any) int {
	longest := 0
	walk(model, func(_ []string, v any) {
		if e, ok := v.(*posEmbedding); ok && (longest == 0 || e.length < longest) {
			longest = e.length
		}
	})
	return longest
}
