package nn

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/tensor"
)

// Causal makes an attention layer attend only backwards: each position of a sequence attends to itself and to earlier positions.
func Causal() Option { return Option{option.New(func(o *options) { o.causal = true }, "Causal")} }

// AttentionDropout drops attention weights in training mode with this probability, as the argument
// dropout of PyTorch's MultiheadAttention. It needs memory for the weights of all positions.
func AttentionDropout(share float64) Option {
	return Option{option.New(func(o *options) { o.dropped = share }, "AttentionDropout", share)}
}

// attentionDropout returns the layer of [AttentionDropout]; nil without.
func (o options) attentionDropout() *dropout {
	if o.dropped == 0 {
		return nil
	}
	return &dropout{name: "AttentionDropout", share: o.dropped}
}

// SelfAttention returns multi-head self-attention over sequences [N, T, width] (Vaswani et al.,
// 2017). Each head, of size d = width/heads, computes
//
//	softmax(q·kᵀ / √d) · v
//
// where q, k and v are linear projections of x with trained weights. The outputs of the heads
// are concatenated and projected once more. Names, layout and initial values of the
// parameters are those of PyTorch's MultiheadAttention: the projection to q, k and v is uniform in
// ±√(6/(width+3·width)) (Glorot and Bengio, 2010), that of the outputs is that of [Dense], and
// biases are 0. The first input determines width, which must be a multiple of heads. Options are
// [Causal] and [AttentionDropout].
func SelfAttention(heads int, given ...Option) Module {
	return newAttention("SelfAttention", heads, given)
}

// MultiHeadAttention returns multi-head attention of sequences to themselves or to other sequences:
// PyTorch's MultiheadAttention with batch_first=True. [SelfAttention] has its formula and its
// parameters. Forward is self-attention; [MultiHeadAttentionLayer.Attend] takes another sequence and
// masks. Options are [Causal] and [AttentionDropout].
func MultiHeadAttention(heads int, given ...Option) *MultiHeadAttentionLayer {
	return newAttention("MultiHeadAttention", heads, given)
}

func newAttention(name string, heads int, given []Option) *MultiHeadAttentionLayer {
	o := options{}.read(name, given, "Causal", "AttentionDropout")
	return &MultiHeadAttentionLayer{heads: heads, outProj: &DenseLayer{}, name: name, options: o, drop: o.attentionDropout()}
}

// MultiHeadAttentionLayer is multi-head attention; [MultiHeadAttention] returns it.
type MultiHeadAttentionLayer struct {
	lazyState
	inProjWeight *Tensor // [3·width, width]: for q, k and v; nil before the first input
	inProjBias   *Tensor // [3·width]
	outProj      *DenseLayer

	*adapter           // of LoRA, for inProjWeight; nil for none
	split    partition // of tensor parallelism; nil for none

	options
	heads int
	drop  *dropout // of attention weights; nil for none
	name  string
}

// Forward maps sequences [N, T, width] to [N, T, width], in which each position attends to all
// positions of its sequence or, with [Causal], to itself and to earlier ones, but not to the padding
// of data.Sequences, nor to other sequences of a row of data.Dataset.PackSequences.
func (a *MultiHeadAttentionLayer) Forward(x *Tensor) *Tensor {
	var s scratch
	defer s.release()
	return a.Attend(x, x, ownSequence(&s, a.name, x))
}

// Attend computes the attention of queries x [N, T, width] to the keys and values of another sequence
// [N, S, width], which may be x itself. see hides keys, for instance those of padding.
func (a *MultiHeadAttentionLayer) Attend(x, memory *Tensor, see tensor.AttentionMask) *Tensor {
	see.Causal = see.Causal || a.causal
	return a.attend(x, memory, func(q, k, v *Tensor) *Tensor { return droppedAttention(a.drop, q, k, v, see) })
}

// Decode continues sequences, of which cache has the keys and values so far, with x [N, T, width]:
// each position attends to itself and to all earlier ones.
func (a *MultiHeadAttentionLayer) Decode(x *Tensor, cache *KVCache) *Tensor {
	return a.attend(x, x, func(q, k, v *Tensor) *Tensor { return cache.Attend(a, q, k, v) })
}

// attend projects x and memory to heads, and the outputs that of returns for them to the result.
func (a *MultiHeadAttentionLayer) attend(x, memory *Tensor, of func(q, k, v *Tensor) *Tensor) *Tensor {
	shape, other := x.Shape(), memory.Shape()
	if len(shape) != 3 || a.heads < 1 || shape[2] < 1 || shape[2]%a.heads != 0 {
		panic(&tensor.ShapeError{Op: a.name, Shapes: [][]int{shape}, Hint: fmt.Sprintf("the input must be sequences [N, T, width] with a width that is a multiple of the %d heads", a.heads)})
	}
	if x != memory && (len(other) != 3 || other[0] != shape[0] || other[2] != shape[2]) {
		panic(&tensor.ShapeError{Op: a.name, Shapes: [][]int{shape, other}, Hint: "the sequences that are attended to must be [N, S, width] with the N and the width of the queries"})
	}
	n, t, width := shape[0], shape[1], shape[2]
	if a.inProjWeight == nil {
		a.make(width)
	}
	var s scratch
	defer s.release()
	heads := a.heads / ranksOf(a.split)
	width /= ranksOf(a.split) // of this rank's heads
	var q, k, v *Tensor
	if x == memory {
		h := splitHeads(&s, s.keep(a.project(entered(&s, a.split, x))), 3, heads)
		q, k, v = h[0], h[1], h[2]
	} else {
		x, memory := entered(&s, a.split, x), entered(&s, a.split, memory)
		part := func(x *Tensor, from, to int) *Tensor {
			y := s.keep(tensor.Linear(x, s.keep(a.inProjWeight.Slice(0, from*width, to*width)), s.keep(a.inProjBias.Slice(0, from*width, to*width))))
			if a.adapter != nil {
				y = s.keep(y.Add(s.keep(a.adapter.changeOf(&s, x, s.keep(a.adapter.B.Slice(0, from*width, to*width))))))
			}
			return y
		}
		q = splitHeads(&s, part(x, 0, 1), 1, heads)[0]
		kv := splitHeads(&s, part(memory, 1, 3), 2, heads)
		k, v = kv[0], kv[1]
	}
	mixed := s.keep(of(q, k, v))
	joined := s.keep(s.keep(mixed.Permute(0, 2, 1, 3)).Reshape(n, t, width))
	return a.outProj.Forward(joined)
}

// droppedAttention is tensor.MaskedAttention with dropout of the weights.
func droppedAttention(d *dropout, q, k, v *Tensor, see tensor.AttentionMask) *Tensor {
	if d == nil || !d.drops() {
		return tensor.MaskedAttention(q, k, v, see)
	}
	var s scratch
	defer s.release()
	return s.keep(d.Forward(s.keep(tensor.AttentionWeights(q, k, see)))).MatMul(v)
}

// splitHeads splits x [N, T, parts·heads·d] into tensors [N, heads, T, d].
func splitHeads(s *scratch, x *Tensor, parts, heads int) []*Tensor {
	n, t, d := x.Size(0), x.Size(1), x.Size(2)/(parts*heads)
	all := s.keep(s.keep(x.Reshape(n, t, parts, heads, d)).Permute(2, 0, 3, 1, 4))
	split := make([]*Tensor, parts)
	for i := range split {
		split[i] = s.keep(s.keep(all.Slice(0, i, i+1)).Reshape(n, heads, t, d))
	}
	return split
}

// project returns q, k and v, concatenated in the last dimension.
func (a *MultiHeadAttentionLayer) project(x *Tensor) *Tensor {
	if other := layer.Substituted(&a.inProjWeight); other != nil {
		return other(x)
	}
	if a.adapter == nil {
		return tensor.Linear(x, a.inProjWeight, a.inProjBias)
	}
	var s scratch
	defer s.release()
	return s.keep(tensor.Linear(x, a.inProjWeight, a.inProjBias)).Add(s.keep(a.adapter.Change(x)))
}

// Layer describes the layer to the packages that transform models (prune, quantize, onnx). A layer
// that [LoRA] adapts, or that several ranks share, is none that they know.
func (a *MultiHeadAttentionLayer) Layer() any {
	if a.adapter != nil || a.split != nil {
		return nil
	}
	return layer.MatMul{Names: [2]string{"in_proj_weight", "in_proj_bias"}, Weight: &a.inProjWeight, Bias: &a.inProjBias}
}

// make creates the parameters for this width.
func (a *MultiHeadAttentionLayer) make(width int) {
	bound := math.Sqrt(6 / float64(width+3*width))
	a.inProjWeight = a.parameter(tensor.Uniform(tensor.WeightGenerator(), -bound, bound, 3*width, width))
	a.inProjBias = a.parameter(tensor.Zeros(3 * width))
	a.outProj.out = width
	a.outProj.start([]int{width})
	a.outProj.Bias = a.outProj.parameter(tensor.Zeros(width))
}

// String returns the layer as Go code.
func (a *MultiHeadAttentionLayer) String() string {
	return a.call(a.name, a.heads)
}

func (*MultiHeadAttentionLayer) retainsNothing() bool { return true }

// scratch collects the intermediate tensors of a layer, which are released when its output has
// been recorded.
type scratch struct{ made []*Tensor }

func (s *scratch) keep(t *Tensor) *Tensor {
	s.made = append(s.made, t)
	return t
}

func (s *scratch) release() {
	for _, t := range s.made {
		t.Release()
	}
}

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
	drop           *dropout  // of attention weights; nil for none
	split          partition // of tensor parallelism; nil for none
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
	parts := ranksOf(a.split)
	x = entered(&s, a.split, x)
	head := func(p *DenseLayer, heads int) *Tensor {
		return splitHeads(&s, s.keep(p.Forward(x)), 1, heads/parts)[0]
	}
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
	return a.oProj.Forward(s.keep(s.keep(mixed.Permute(0, 2, 1, 3)).Reshape(shape[0], shape[1], a.heads/parts*d)))
}

func (*GroupedQueryAttentionLayer) retainsNothing() bool { return true }

// String returns the layer as Go code.
func (a *GroupedQueryAttentionLayer) String() string {
	return a.call("GroupedQueryAttention", a.heads, a.kvHeads)
}
