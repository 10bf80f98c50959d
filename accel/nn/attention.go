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

// KVCache holds the keys and values of the positions that a decoder has seen, so that each new token
// needs only its own computations. A model that generates passes each new part of its sequences to
// the method Decode or to [KVCache.Attend] of all its attention layers, and then calls
// [KVCache.Advance].
type KVCache struct {
	length   int // positions seen
	capacity int // positions for which the tensors have room
	layers   map[any]*keysValues
}

// keysValues are the keys and values of a layer. A single token is written to the few newest positions,
// so that the others need not be copied for it.
type keysValues struct {
	keys, values *Tensor // of the first stored positions, [N, heads, capacity, d]
	stored       int

	newKeys, newValues *Tensor // of the positions after them, [N, heads, newest, d]; nil for none
}

// newest is the number of positions that a layer collects before it stores them with the others.
const newest = 32

// NewKVCache returns an empty cache. It grows in powers of two, so that few shapes need plans.
func NewKVCache() *KVCache { return &KVCache{layers: map[any]*keysValues{}} }

// Len returns the number of positions seen.
func (c *KVCache) Len() int { return c.length }

// Positions returns the positions of the next t tokens, [t] of type int32.
func (c *KVCache) Positions(t int) *Tensor {
	at := make([]int, t)
	for i := range at {
		at[i] = c.length + i
	}
	return tensor.FromInts(at, t)
}

// Advance records that all layers have seen t more positions.
func (c *KVCache) Advance(t int) { c.length += t }

// Release frees the memory of the cache, which is empty then.
func (c *KVCache) Release() {
	for _, l := range c.layers {
		l.keys.Release()
		l.values.Release()
		l.releaseNewest()
	}
	c.length, c.capacity, c.layers = 0, 0, map[any]*keysValues{}
}

// String returns the number of positions.
func (c *KVCache) String() string { return fmt.Sprintf("KVCache of %d positions", c.length) }

// Attend adds keys and values [N, heads, T, d] of the next T positions for a layer, which identifies
// itself by any comparable value, and returns the attention of the queries q to all positions up to
// their own. q may have a multiple of the heads: neighboring heads then share keys and values, as in
// [GroupedQueryAttention].
func (c *KVCache) Attend(layer any, q, k, v *Tensor) *Tensor {
	known := c.layers[layer]
	if known != nil && k.Size(2) == 1 {
		return c.attendNext(known, q, k, v)
	}
	var s scratch
	defer s.release()
	t := k.Size(2)
	c.grow(c.length + t)
	next := &keysValues{stored: c.length + t}
	if known == nil {
		next.keys, next.values = c.first(k), c.first(v)
	} else {
		c.store(known)
		next.keys, next.values = c.write(&s, known.keys, k, c.length), c.write(&s, known.values, v, c.length)
		known.keys.Release()
		known.values.Release()
	}
	c.layers[layer] = next
	// Key j is visible to the query at position p if j <= p.
	keys := s.keep(tensor.Arange(0, float64(c.capacity), 1, tensor.Int32))
	hidden := s.keep(keys.Greater(s.keep(s.keep(c.Positions(t)).Reshape(t, 1))))
	see := tensor.AttentionMask{Mask: s.keep(s.keep(hidden.Not()).Reshape(1, 1, t, c.capacity))}
	return groupedAttention(&s, nil, q, next.keys, next.values, see)
}

// grow makes the capacity a power of two that is at least need.
func (c *KVCache) grow(need int) {
	c.capacity = max(c.capacity, newest)
	for c.capacity < need {
		c.capacity *= 2
	}
}

// attendNext is Attend for the next token of a layer. The softmax is over the scores of the stored
// and of the newest positions together.
func (c *KVCache) attendNext(l *keysValues, q, k, v *Tensor) *Tensor {
	var s scratch
	defer s.release()
	l.stored = min(l.stored, c.length) // after a pass that failed
	if c.length-l.stored == newest {
		c.store(l)
	}
	at := c.length - l.stored
	if at == 0 {
		l.releaseNewest()
		l.newKeys, l.newValues = k.Pad(2, 0, newest-1), v.Pad(2, 0, newest-1)
	} else {
		l.newKeys, l.newValues = put(&s, l.newKeys, k, at), put(&s, l.newValues, v, at)
	}
	n, heads, d, kvHeads, capacity := q.Size(0), q.Size(1), q.Size(3), k.Size(1), l.keys.Size(2)
	scaled := s.keep(s.keep(q.Reshape(n, kvHeads, heads/kvHeads, d)).MulScalar(1 / math.Sqrt(float64(d))))
	scores := s.keep(tensor.Concat(3, s.keep(scaled.MatMul(s.keep(l.keys.MT()))), s.keep(scaled.MatMul(s.keep(l.newKeys.MT())))))
	given := scores.DType()
	if given == tensor.Float16 || given == tensor.BFloat16 {
		scores = s.keep(scores.Cast(tensor.Float32))
	}
	hide := make([]float32, capacity+newest)
	for j := range hide {
		if j >= l.stored && j < capacity || j > capacity+at {
			hide[j] = float32(math.Inf(-1))
		}
	}
	hidden := s.keep(tensor.New(hide, len(hide)))
	if scores.DType() == tensor.Float64 {
		hidden = s.keep(hidden.Cast(tensor.Float64))
	}
	weights := s.keep(s.keep(scores.Add(hidden)).Softmax(3))
	if weights.DType() != given {
		weights = s.keep(weights.Cast(given))
	}
	stored := s.keep(s.keep(weights.Slice(3, 0, capacity)).MatMul(l.values))
	added := s.keep(s.keep(weights.Slice(3, capacity, capacity+newest)).MatMul(l.newValues))
	return s.keep(stored.Add(added)).Reshape(n, heads, 1, v.Size(3))
}

// put returns the newest keys or values with those of one more position. The position is data, so
// that one plan serves all tokens. It releases the ones before.
func put(s *scratch, before, added *Tensor, at int) *Tensor {
	s.keep(before)
	here := s.keep(s.keep(tensor.Arange(0, newest, 1, tensor.Int32)).Eq(s.keep(tensor.FromInts([]int{at}, 1))))
	return tensor.Where(s.keep(here.Reshape(1, 1, newest, 1)), added, before)
}

// store moves the newest positions of a layer to the stored ones.
func (c *KVCache) store(l *keysValues) {
	if l.newKeys == nil {
		return
	}
	var s scratch
	defer s.release()
	n := c.length - l.stored
	c.grow(c.length)
	s.keep(l.keys)
	s.keep(l.values)
	l.keys = c.write(&s, l.keys, s.keep(l.newKeys.Slice(2, 0, n)), l.stored)
	l.values = c.write(&s, l.values, s.keep(l.newValues.Slice(2, 0, n)), l.stored)
	l.releaseNewest()
	l.stored = c.length
}

// releaseNewest releases the newest keys and values.
func (l *keysValues) releaseNewest() {
	if l.newKeys != nil {
		l.newKeys.Release()
		l.newValues.Release()
		l.newKeys, l.newValues = nil, nil
	}
}

// first returns the first keys or values with room for more.
func (c *KVCache) first(x *Tensor) *Tensor {
	if x.Size(2) == c.capacity {
		return x.Clone()
	}
	return x.Pad(2, 0, c.capacity-x.Size(2))
}

// write returns cached with new keys or values from a position on.
func (c *KVCache) write(s *scratch, cached, added *Tensor, from int) *Tensor {
	if size := cached.Size(2); size < c.capacity {
		cached = s.keep(cached.Pad(2, 0, c.capacity-size))
	}
	parts := []*Tensor{s.keep(cached.Slice(2, 0, from)), added}
	if end := from + added.Size(2); end < c.capacity {
		parts = append(parts, s.keep(cached.Slice(2, end, c.capacity)))
	}
	return tensor.Concat(2, parts...)
}

// groupedAttention is the attention of q [N, heads, T, d] to k and v [N, fewer heads, S, d], where
// heads/fewer neighboring heads share keys and values.
func groupedAttention(s *scratch, drop *dropout, q, k, v *Tensor, see tensor.AttentionMask) *Tensor {
	n, heads, t, d := q.Size(0), q.Size(1), q.Size(2), q.Size(3)
	kvHeads, seen := k.Size(1), k.Size(2)
	group := heads / kvHeads
	if group == 1 {
		return droppedAttention(drop, q, k, v, see)
	}
	if t == 1 && seen > 1 && !see.Causal { // the heads of a group are queries of one head, and nothing is copied
		y := s.keep(droppedAttention(drop, s.keep(q.Reshape(n, kvHeads, group, d)), k, v, see))
		return y.Reshape(n, heads, 1, v.Size(3))
	}
	repeated := func(x *Tensor) *Tensor {
		width := x.Size(3)
		one := s.keep(x.Reshape(n, kvHeads, 1, seen, width))
		return s.keep(s.keep(one.Expand(n, kvHeads, group, seen, width)).Reshape(n, heads, seen, width))
	}
	return droppedAttention(drop, q, repeated(k), repeated(v), see)
}
