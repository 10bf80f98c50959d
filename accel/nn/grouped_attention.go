package nn

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/option"
	"github.com/quernlab/quern/accel/tensor"
)

// RoPE makes [GroupedQueryAttention] rotate queries and keys by angles that depend on their positions, with this base, usually
// 10,000; see [tensor.RotaryEmbedding].
func RoPE(base float64) Option {
	return Option{option.New(func(o *options) { o.ropeBase = base }, "RoPE", base)}
}

// HeadSize sets the size of a head of [GroupedQueryAttention]. The default is width/heads.
func HeadSize(d int) Option {
	return Option{option.New(func(o *options) { o.headSize = d }, "HeadSize", d)}
}

// GroupedQueryAttention returns multi-head self-attention over sequences [N, T, width] in which
// heads/kvHeads neighboring heads share keys and values (Ainslie et al., 2023): with kvHeads equal to
// heads it is multi-head attention, with 1 multi-query attention. q, k, v and the output have [Dense]
// projections of their own, named q_proj, k_proj, v_proj and o_proj as in Llama. Options are
// [Causal], [AttentionDropout], [RoPE], [HeadSize] and [NoBias]. The first input determines width.
func GroupedQueryAttention(heads, kvHeads int, given ...Option) *GroupedQueryAttentionLayer {
	o := options{}.read("GroupedQueryAttention", given, "Causal", "AttentionDropout", "RoPE", "HeadSize", "NoBias")
	project := func() *DenseLayer { return &DenseLayer{noBias: o.noBias} }
	return &GroupedQueryAttentionLayer{
		qProj: project(), kProj: project(), vProj: project(), oProj: project(),
		heads: heads, kvHeads: kvHeads, options: o, drop: o.attentionDropout(),
	}
}

// GroupedQueryAttentionLayer is attention whose heads share keys and values; [GroupedQueryAttention]
// returns it.
type GroupedQueryAttentionLayer struct {
	qProj, kProj, vProj, oProj *DenseLayer
	options
	heads, kvHeads int
	drop           *dropout // of attention weights; nil for none
}

// Forward maps sequences [N, T, width] to [N, T, width]. No position attends to the padding of
// data.Sequences.
func (a *GroupedQueryAttentionLayer) Forward(x *Tensor) *Tensor {
	var s scratch
	defer s.release()
	return a.Attend(x, ownSequence(&s, "GroupedQueryAttention", x))
}

// Attend is Forward with hidden keys, for instance those of padding.
func (a *GroupedQueryAttentionLayer) Attend(x *Tensor, see tensor.AttentionMask) *Tensor {
	see.Causal = see.Causal || a.causal
	return a.attend(x, nil, func(s *scratch, q, k, v *Tensor) *Tensor { return groupedAttention(s, a.drop, q, k, v, see) })
}

// Decode continues sequences, of which cache has the keys and values so far, with x [N, T, width]:
// each position attends to itself and to all earlier ones.
func (a *GroupedQueryAttentionLayer) Decode(x *Tensor, cache *KVCache) *Tensor {
	return a.attend(x, cache, func(_ *scratch, q, k, v *Tensor) *Tensor { return cache.Attend(a, q, k, v) })
}

func (a *GroupedQueryAttentionLayer) attend(x *Tensor, cache *KVCache, of func(s *scratch, q, k, v *Tensor) *Tensor) *Tensor {
	shape := x.Shape()
	if len(shape) != 3 || a.heads < 1 || a.kvHeads < 1 || a.heads%a.kvHeads != 0 || a.headSize == 0 && shape[2]%a.heads != 0 {
		panic(&tensor.ShapeError{Op: "GroupedQueryAttention", Shapes: [][]int{shape}, Hint: fmt.Sprintf("the input must be sequences [N, T, width] with a width that is a multiple of the %d heads, and these a multiple of the %d heads of keys", a.heads, a.kvHeads)})
	}
	d := a.headSize
	if d == 0 {
		d = shape[2] / a.heads
	}
	for p, out := range map[*DenseLayer]int{a.qProj: a.heads * d, a.kProj: a.kvHeads * d, a.vProj: a.kvHeads * d, a.oProj: shape[2]} {
		p.out = out
	}
	var s scratch
	defer s.release()
	head := func(p *DenseLayer, heads int) *Tensor { return splitHeads(&s, s.keep(p.Forward(x)), 1, heads)[0] }
	q, k, v := head(a.qProj, a.heads), head(a.kProj, a.kvHeads), head(a.vProj, a.kvHeads)
	if a.ropeBase > 0 {
		var positions *Tensor
		if cache == nil {
			positions = s.keep(tensor.Arange(0, float64(shape[1]), 1, tensor.Int32))
		} else {
			positions = s.keep(cache.Positions(shape[1]))
		}
		q, k = s.keep(tensor.RotaryEmbedding(q, positions, a.ropeBase)), s.keep(tensor.RotaryEmbedding(k, positions, a.ropeBase))
	}
	mixed := s.keep(of(&s, q, k, v))
	return a.oProj.Forward(s.keep(s.keep(mixed.Permute(0, 2, 1, 3)).Reshape(shape[0], shape[1], a.heads*d)))
}

func (*GroupedQueryAttentionLayer) retainsNothing() bool { return true }

// String returns the layer as Go code.
func (a *GroupedQueryAttentionLayer) String() string {
	return a.call("GroupedQueryAttention", a.heads, a.kvHeads)
}
