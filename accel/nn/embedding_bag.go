package nn

import (
	"math"

	"github.com/quernlab/quern/accel/internal/option"
	"github.com/quernlab/quern/accel/tensor"
)

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
	all := embedding{e.lazyState, e.weight, e.tokens, e.width}
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
func (*embeddingBag) retainsNothing() bool { return true }

func (e *embeddingBag) slots() []slot {
	return []slot{{name: "weight", at: &e.weight, shape: []int{e.tokens, e.width}}}
}
