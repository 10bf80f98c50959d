package nn

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/tensor"
)

// Embedding returns a layer that maps token indices [N, T] to trained vectors [N, T, width].
// The indices are integers below tokens, of an integer type or of float32; another number is a
// *tensor.IndexError. The initial vectors are drawn from the standard normal distribution, or from a
// narrower one by [InitStd].
func Embedding(tokens, width int, given ...Option) Module {
	return &embedding{tokens: tokens, width: width, options: options{std: 1}.read("Embedding", given, "InitStd")}
}

// InitStd sets the standard deviation of the initial vectors of [Embedding], 1 by default. An embedding whose weight is also that of the
// output layer ([TiedDense]) needs a small one, such as the 0.02 of GPT-2: with the default a model with random weights predicts
// its own input with a certainty that makes gradients underflow.
//
//	tokens := nn.Embedding(50257, 768, nn.InitStd(0.02))
//	head := nn.TiedDense(tokens)
func InitStd(std float64) Option {
	return Option{option.New(func(o *options) { o.std = std }, "InitStd", std).Require(std > 0 && !math.IsInf(std, 0), "the standard deviation must be positive and finite")}
}

type embedding struct {
	lazyState
	weight        *Tensor // [tokens, width], nil before the first input; of some of the tokens if it is divided
	tokens, width int
	split         partition
	options
}

func (e *embedding) Forward(x *Tensor) *Tensor { return e.vectors("Embedding", e, x) }

// vectors returns the vector of each index, and creates all vectors at the first input.
func (e *embedding) vectors(op string, layer fmt.Stringer, x *Tensor) *Tensor {
	if e.weight == nil {
		if e.tokens < 1 || e.width < 1 {
			panic(&tensor.ShapeError{Op: op, Shapes: [][]int{x.Shape()}, Hint: fmt.Sprintf("%v must have at least one token and a width of at least 1", layer)})
		}
		weight := tensor.Randn(tensor.WeightGenerator(), e.tokens, e.width)
		if e.std != 1 { // on the host: an op would fail with the first lookup, if an index is wrong
			values := weight.Data()
			for i := range values {
				values[i] *= float32(e.std)
			}
			weight.Release()
			weight = tensor.New(values, e.tokens, e.width)
		}
		e.weight = e.parameter(weight)
	}
	if x.DType().IsFloat() {
		index := wholeNumbers(x)
		defer index.Release()
		x = index
	}
	if e.split != nil {
		return e.divided(x)
	}
	return tensor.Embedding(e.weight, x)
}

// wholeNumbers returns indices that are floats, as in the batches of a data set, as int32. One that is no whole number, such as that of a
// standardized column, gets an index that no table has.
func wholeNumbers(x *Tensor) *Tensor {
	var s scratch
	defer s.release()
	index := s.keep(x.Cast(tensor.Int32))
	same := s.keep(s.keep(index.Cast(x.DType())).Eq(x))
	return tensor.Where(same, index, s.keep(tensor.FromInts([]int{math.MinInt32})))
}

func (e *embedding) String() string { return e.call("Embedding", e.tokens, e.width) }

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
		e.weight = e.parameter(tensor.Randn(tensor.WeightGenerator(), e.length, e.width))
	}
}

func (e *posEmbedding) String() string {
	return fmt.Sprintf("PositionEmbedding(%d, %d)", e.length, e.width)
}

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

// BagSum makes [EmbeddingBag] add the vectors instead of computing their mean.
func BagSum() Option {
	return Option{option.New(func(o *options) { o.bag = (*embeddingBag).sum }, "BagSum")}
}

// BagMax makes [EmbeddingBag] compute the largest element of the vectors instead of their mean.
func BagMax() Option {
	return Option{option.New(func(o *options) { o.bag = (*embeddingBag).max }, "BagMax")}
}

// BagPadding makes [EmbeddingBag] leave out a token index, such as that of padding, as padding_idx in
// PyTorch.
func BagPadding(token int) Option {
	return Option{option.New(func(o *options) { o.without = &token }, "BagPadding", token)}
}

// bagFunc reduces the vectors of a bag to one.
type bagFunc func(e *embeddingBag, s *scratch, vectors, counted *Tensor) *Tensor

// EmbeddingBag returns a layer that maps bags of token indices [N, T] to the means of their trained
// vectors, [N, width]: [Embedding] and the mean over the tokens, in any order. [BagSum] and [BagMax]
// compute something else than the mean. Tokens of [BagPadding], and the padding of the sequences of
// data.Sequences, do not count; a bag without other tokens is 0, as in PyTorch. The indices and the
// initial vectors are those of Embedding.
func EmbeddingBag(tokens, width int, given ...Option) Module {
	return &embeddingBag{tokens: tokens, width: width, options: options{bag: (*embeddingBag).mean}.read("EmbeddingBag", given, "BagSum", "BagMax", "BagPadding")}
}

type embeddingBag struct {
	lazyState
	weight        *Tensor // [tokens, width], nil before the first input
	tokens, width int
	options
}

func (e *embeddingBag) Forward(x *Tensor) *Tensor {
	if shape := x.Shape(); len(shape) != 2 || shape[1] < 1 {
		panic(&tensor.ShapeError{Op: "EmbeddingBag", Shapes: [][]int{shape}, Hint: "the input must be bags of token indices [N, T] with at least one token"})
	}
	var s scratch
	defer s.release()
	all := embedding{lazyState: e.lazyState, weight: e.weight, tokens: e.tokens, width: e.width, options: options{std: 1}}
	vectors := s.keep(all.vectors("EmbeddingBag", e, x))
	e.weight = all.weight
	return e.bag(e, &s, vectors, e.counted(&s, x, vectors))
}

// counted returns 1 for the tokens that count, as [N, T, 1]; nil for all.
func (e *embeddingBag) counted(s *scratch, x, vectors *Tensor) *Tensor {
	n, t := x.Size(0), x.Size(1)
	var all *Tensor
	if lengths := paddedLengths("EmbeddingBag", vectors); lengths != nil {
		at := s.keep(tensor.Arange(0, float64(t), 1, tensor.Int32))
		all = s.keep(s.keep(lengths.Reshape(n, 1)).Greater(at))
	}
	if e.without != nil {
		own := s.keep(s.keep(x.EqScalar(float64(*e.without))).Not())
		if all == nil {
			all = own
		} else {
			all = s.keep(all.And(own))
		}
	}
	if all == nil {
		return nil
	}
	return s.keep(all.Reshape(n, t, 1))
}

// kept replaces the vectors that do not count.
func kept(s *scratch, vectors, counted *Tensor, by float64) *Tensor {
	if counted == nil {
		return vectors
	}
	return s.keep(tensor.Where(counted, vectors, s.keep(constant(by, vectors))))
}

func (*embeddingBag) sum(s *scratch, vectors, counted *Tensor) *Tensor {
	return kept(s, vectors, counted, 0).Sum(1)
}

func (*embeddingBag) mean(s *scratch, vectors, counted *Tensor) *Tensor {
	if counted == nil {
		return vectors.Mean(1)
	}
	count := s.keep(s.keep(counted.Sum(1)).Cast(vectors.DType()))
	return s.keep(kept(s, vectors, counted, 0).Sum(1)).Div(s.keep(count.Maximum(s.keep(constant(1, vectors)))))
}

func (*embeddingBag) max(s *scratch, vectors, counted *Tensor) *Tensor {
	if counted == nil {
		return vectors.Max(1)
	}
	largest := s.keep(kept(s, vectors, counted, math.Inf(-1)).Max(1))
	any := s.keep(s.keep(counted.Sum(1)).GreaterScalar(0))
	return tensor.Where(any, largest, s.keep(constant(0, vectors)))
}

// String returns the layer as Go code.
func (e *embeddingBag) String() string {
	return e.call("EmbeddingBag", e.tokens, e.width)
}

func (e *embeddingBag) slots() []slot {
	return []slot{{name: "weight", at: &e.weight, shape: []int{e.tokens, e.width}}}
}

// TiedDense returns a layer that maps [… width] to [… out] with the weight [out, width] of another
// layer, an [Embedding] or a [Dense], and without a bias: y = x·Wᵀ. Language models use the
// embedding of their tokens again to compute logits (Press and Wolf, 2017). The weight is one
// parameter, with the name that it has in the other layer, which must come first in the model and
// in each computation.
func TiedDense(to Module) Module { return &tiedDense{to: to} }

type tiedDense struct {
	to    Module
	split partition
}

func (l *tiedDense) Forward(x *Tensor) *Tensor {
	var weight *Tensor
	divided := false
	switch to := l.to.(type) {
	case *embedding:
		weight = to.weight
		divided = to.split != nil && l.split == nil
	case *DenseLayer:
		weight = to.Weight
		divided = to.split != nil
	default:
		panic(&tensor.StateError{Op: "TiedDense", Hint: fmt.Sprintf("%s has no weight to share: use an Embedding or a Dense", describe(l.to))})
	}
	switch {
	case divided:
		panic(&tensor.StateError{Op: "TiedDense", Hint: "several ranks share the layer with the weight, so no rank has all of it: do not divide it"})
	case weight == nil:
		panic(&tensor.StateError{Op: "TiedDense", Hint: fmt.Sprintf("%s has no weight yet: it must have an input first", describe(l.to))})
	}
	var s scratch
	defer s.release()
	return tensor.Linear(entered(&s, l.split, x), weight, nil)
}

func (l *tiedDense) String() string     { return "TiedDense(" + describe(l.to) + ")" }
func (*tiedDense) retainsNothing() bool { return true }
