package nn

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/tensor"
)

// partition is embedded by layers that ranks can divide among themselves; nil for a whole layer.
type partition = *layer.Partition

// ranksOf returns the number of ranks that share a layer.
func ranksOf(p partition) int {
	if p == nil {
		return 1
	}
	return p.Size
}

// entered returns the input of a divided layer.
func entered(s *scratch, p partition, x *Tensor) *Tensor {
	if p == nil || p.Copy == nil {
		return x
	}
	return s.keep(p.Copy(x))
}

var (
	errNoParameters = errors.New("it has no parameters yet: run an input through the model first")
	errAdapted      = errors.New("it has an adapter of LoRA: merge it first")
)

// dividable returns an error unless n, such as a number of outputs, can be divided among the ranks.
func dividable(p partition, n int, what string) error {
	if n%p.Size != 0 {
		return fmt.Errorf("its %d %s cannot be divided by %d ranks: use a multiple of the ranks, or fewer ranks for tensor parallelism", n, what, p.Size)
	}
	return nil
}

// Partition implements tensor parallelism: the outputs are divided, or with p.Rows the inputs.
func (l *DenseLayer) Partition(p *layer.Partition) ([]layer.Divided, error) {
	switch {
	case l.Weight == nil:
		return nil, errNoParameters
	case l.adapter != nil:
		return nil, errAdapted
	case l.split != nil:
		return nil, errors.New("it is divided already")
	}
	dimension, what := 0, "outputs"
	if p.Rows {
		dimension, what = 1, "inputs"
	}
	if err := dividable(p, l.Weight.Size(dimension), what); err != nil {
		return nil, err
	}
	l.split = p
	parts := []layer.Divided{{At: &l.Weight, Dimension: dimension, Blocks: 1}}
	if l.Bias != nil && !p.Rows {
		parts = append(parts, layer.Divided{At: &l.Bias, Dimension: 0, Blocks: 1})
	}
	return parts, nil
}

// divided computes this rank's part of the layer.
func (l *DenseLayer) divided(x *Tensor) *Tensor {
	var s scratch
	defer s.release()
	if !l.split.Rows {
		return tensor.Linear(entered(&s, l.split, x), l.Weight, l.Bias)
	}
	sum := l.split.Sum(s.keep(tensor.Linear(x, l.Weight, nil)))
	if l.Bias == nil {
		return sum
	}
	return s.keep(sum).Add(l.Bias)
}

// inner returns the partition for a linear layer inside of a divided one, which enters its input itself.
func inner(p partition, rows bool) partition {
	own := *p
	own.Rows = rows
	if !rows {
		own.Copy = nil
	}
	return &own
}

// Partition implements tensor parallelism: each rank computes some of the heads.
func (a *MultiHeadAttentionLayer) Partition(p *layer.Partition) ([]layer.Divided, error) {
	switch {
	case a.inProjWeight == nil:
		return nil, errNoParameters
	case a.adapter != nil || a.outProj.adapter != nil:
		return nil, errAdapted
	}
	if err := dividable(p, a.heads, "heads"); err != nil {
		return nil, err
	}
	parts, err := a.outProj.Partition(inner(p, true))
	if err != nil {
		return nil, err
	}
	a.split = p
	if a.drop != nil {
		a.drop.Vary(p.Rank)
	}
	return append(parts, layer.Divided{At: &a.inProjWeight, Blocks: 3}, layer.Divided{At: &a.inProjBias, Blocks: 3}), nil
}

// Partition implements tensor parallelism: each rank computes some of the heads.
func (a *GroupedQueryAttentionLayer) Partition(p *layer.Partition) (parts []layer.Divided, err error) {
	if err := dividable(p, a.kvHeads, "heads of keys"); err != nil {
		return nil, err
	}
	for _, l := range []struct {
		layer *DenseLayer
		rows  bool
	}{{a.qProj, false}, {a.kProj, false}, {a.vProj, false}, {a.oProj, true}} {
		more, err := l.layer.Partition(inner(p, l.rows))
		if err != nil {
			return nil, err
		}
		parts = append(parts, more...)
	}
	a.split = p
	if a.drop != nil {
		a.drop.Vary(p.Rank)
	}
	return parts, nil
}

// partition divides the two linear layers: the first by outputs, the second by inputs.
func (f *feedForward) partition(p *layer.Partition) ([]layer.Divided, error) {
	first, err := f.linear1.Partition(p)
	if err != nil {
		return nil, fmt.Errorf("linear1: %w", err)
	}
	second, err := f.linear2.Partition(inner(p, true))
	if err != nil {
		return nil, fmt.Errorf("linear2: %w", err)
	}
	return append(first, second...), nil
}

// Partition implements tensor parallelism: each rank computes some of the heads, and some of the
// features between the two linear layers.
func (l *TransformerEncoderLayerModule) Partition(p *layer.Partition) ([]layer.Divided, error) {
	first, err := l.selfAttn.Partition(p)
	if err != nil {
		return nil, fmt.Errorf("self_attn: %w", err)
	}
	second, err := l.feedForward.partition(p)
	return append(first, second...), err
}

// Partition implements tensor parallelism: each rank has the vectors of some of the tokens.
func (e *embedding) Partition(p *layer.Partition) ([]layer.Divided, error) {
	switch {
	case e.weight == nil:
		return nil, errNoParameters
	case e.split != nil:
		return nil, errors.New("it is divided already")
	case e.tokens > exactTokens:
		return nil, fmt.Errorf("it has %d tokens, but at most %d can be divided", e.tokens, exactTokens)
	}
	if err := dividable(p, e.tokens, "tokens"); err != nil {
		return nil, fmt.Errorf("%w; tokens that no text contains may fill the vocabulary", err)
	}
	e.split = p
	return []layer.Divided{{At: &e.weight, Dimension: 0, Blocks: 1}}, nil
}

// exactTokens is the largest number up to which float32 has all integers.
const exactTokens = 1 << 24

// divided adds up the vectors of all ranks, each of which has those of its own tokens, and zeros for the others.
func (e *embedding) divided(index *Tensor) *Tensor {
	var s scratch
	defer s.release()
	mine, local, zero := e.split.Own(s.keep, index, e.tokens)
	vectors := s.keep(tensor.Embedding(e.weight, local))
	column := append(index.Shape(), 1)
	zero = s.keep(s.keep(zero.Reshape(column...)).Cast(vectors.DType()))
	return e.split.Sum(s.keep(tensor.Where(s.keep(mine.Reshape(column...)), vectors, zero)))
}

// DividesVocabulary reports that this layer does not compute logits.
func (e *embedding) DividesVocabulary() (logits bool) { return false }

// Partition implements tensor parallelism: each rank computes the logits of the tokens whose vectors it has.
func (l *tiedDense) Partition(p *layer.Partition) ([]layer.Divided, error) {
	if e, ok := l.to.(*embedding); !ok || e.split == nil {
		return nil, fmt.Errorf("the weight of %s is not divided: it must be that of an nn.Embedding that the same option divides", describe(l.to))
	}
	l.split = p
	return nil, nil
}

// DividesVocabulary reports that this layer computes logits.
func (l *tiedDense) DividesVocabulary() (logits bool) { return true }
