package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// Attention returns softmax(q·kᵀ/√D)·v, torch's scaled_dot_product_attention, for queries [B, H, T,
// D], keys [B, H, S, D] and values [B, H, S, E]. B is the batch size and H the number of heads; the
// result is [B, H, T, E]. With causal, query i attends to keys 0 to i only. Memory grows with T,
// not with T·S, because the gradient recomputes the scores. [MaskedAttention] hides other keys.
func Attention(q, k, v *Tensor, causal bool) *Tensor {
	requireApart("Attention", AttentionMask{})
	y := attention(causal, q, k, v)
	recordAttention(q, k, AttentionMask{Causal: causal})
	return y
}

func attention(causal bool, in ...*Tensor) *Tensor {
	return compute(ir.Attention{}, func(r *ir.Recorder, in []*ir.Value) *ir.Value {
		scale := 1.0
		if s := in[0].Shape(); len(s) == 4 && s[3] > 0 {
			scale = 1 / math.Sqrt(float64(s[3]))
		}
		return r.Attention(ir.Attention{Causal: causal, Scale: scale}, in...)
	}, in...)
}

// AttentionMask says which keys the queries attend to in [MaskedAttention]. The fields combine: a
// key is visible if none of them hides it.
type AttentionMask struct {
	Causal bool // query i attends to keys 0 to i only

	// Mask hides a key from a query where it is 0, as torch's bool attn_mask. It may have any
	// element type and broadcasts to the scores [B, H, T, S]. nil hides nothing.
	Mask *Tensor
	// Bias is added to the scores, as torch's float attn_mask; -Inf hides a key. It broadcasts to
	// the scores [B, H, T, S] and gets no gradient. nil adds nothing.
	Bias *Tensor
	// Lengths [B], of type int32, is the number of keys of each example; later keys are padding and
	// hidden. A length outside of 0..S is an *IndexError. nil means that all keys are valid.
	Lengths *Tensor
}

// MaskedAttention is [Attention] with hidden keys. A query that attends to no key gives 0. It needs
// the memory of Attention and of the mask, which is not expanded: dimensions of size 1 stay that
// size.
func MaskedAttention(q, k, v *Tensor, see AttentionMask) *Tensor {
	requireApart("MaskedAttention", see)
	added := see.bias(k)
	if added == nil {
		return Attention(q, k, v, see.Causal)
	}
	defer added.Release()
	y := attention(see.Causal, q, k, v, added)
	recordAttention(q, k, see)
	if d := q.DType(); d.Is16Bit() && d == k.DType() && d == v.DType() && y.DType() != d { // added is float32
		defer y.Release()
		return y.Cast(d)
	}
	return y
}

// bias returns what to add to the scores, with four dimensions, or nil.
func (s AttentionMask) bias(keys *Tensor) *Tensor {
	const op = "MaskedAttention"
	d := keys.DType()
	if d.Is16Bit() {
		d = Float32
	}
	var made scratch
	keep := made.keep
	var all *Tensor
	defer func() { made.release(all) }()
	add := func(t *Tensor) {
		if all == nil {
			all = keep(t)
			return
		}
		all = keep(all.Add(keep(t)))
	}
	hide := func(seen *Tensor) *Tensor {
		return Where(seen, keep(keep(Full(0)).Cast(d)), keep(keep(Full(math.Inf(-1))).Cast(d)))
	}
	if s.Mask != nil {
		add(hide(keep(keep(s.Mask.Cast(Bool)).Cast(Float32))))
	}
	if s.Lengths != nil {
		shape, n := keys.Shape(), s.Lengths.Shape()
		if len(shape) != 4 || !slices.Equal(n, shape[:1]) || s.Lengths.DType() != Int32 {
			panic(&ShapeError{Op: op, Shapes: [][]int{shape, n}, Hint: "keys must be [B H S D] and Lengths [B] of type int32"})
		}
		s.Lengths = checkLengths(op, s.Lengths, 0, shape[2])
		places := make([]int, shape[2])
		for i := range places {
			places[i] = i
		}
		add(hide(keep(keep(FromInts(places, 1, 1, 1, len(places))).Less(keep(s.Lengths.Reshape(-1, 1, 1, 1))))))
	}
	if s.Bias != nil {
		if s.Bias.RequiresGrad() {
			panic(&StateError{Op: op, Hint: "Bias requires a gradient, which is not supported; call Detach, or write the attention with MatMul and Softmax"})
		}
		add(s.Bias.Cast(d))
	}
	if all == nil {
		return nil
	}
	if n := all.NDim(); n < 4 {
		all = keep(all.Reshape(append(slices.Repeat([]int{1}, 4-n), all.Shape()...)...))
	}
	return all
}

// AttentionWeights returns the weights with which [MaskedAttention] adds the values: softmax(q·kᵀ/√D)
// over the visible keys, [B, H, T, S], for queries [B, H, T, D] and keys [B, H, S, D]. The weights of
// a query that attends to no key are 0. Unlike MaskedAttention it needs memory for T·S weights.
func AttentionWeights(q, k *Tensor, see AttentionMask) *Tensor {
	const op = "AttentionWeights"
	shape, keys := q.Shape(), k.Shape()
	if len(shape) != 4 || len(keys) != 4 || shape[0] != keys[0] || shape[1] != keys[1] || shape[3] != keys[3] || shape[3] < 1 {
		panic(&ShapeError{Op: op, Shapes: [][]int{shape, keys}, Hint: "queries must be [B H T D] and keys [B H S D]"})
	}
	requireApart(op, see)
	scores := q.MatMul(k.Permute(0, 1, 3, 2)).MulScalar(1 / math.Sqrt(float64(shape[3])))
	added := see.bias(k)
	if see.Causal {
		hidden := Full(math.Inf(-1)).Cast(scores.DType())
		seen := Ones(shape[2], keys[2]).Tril(0)
		causal := Where(seen, Full(0).Cast(scores.DType()), hidden).Reshape(1, 1, shape[2], keys[2])
		if added == nil {
			added = causal
		} else {
			added = added.Add(causal)
		}
	}
	if added == nil {
		return scores.Softmax(-1)
	}
	// Where all keys are hidden, the softmax of -Inf would be NaN, and so would its gradient.
	zero := Full(0).Cast(added.DType())
	some := added.Max(3).Reshape(added.Size(0), added.Size(1), added.Size(2), 1).Greater(Full(math.Inf(-1)).Cast(added.DType()))
	weights := scores.Add(Where(some, added, zero)).Softmax(-1)
	return Where(some, weights, Full(0).Cast(weights.DType()))
}

// attended runs f for tensors.RecordAttention.
func attended(f func()) []recordedAttention {
	var all []recordedAttention
	withScope(func(s *scope) { s.attention = &all }, f)
	return all
}

type recordedAttention = tensors.RecordedAttention[*Tensor]

// recordAttention appends the weights to the list of RecordAttention.
func recordAttention(q, k *Tensor, see AttentionMask) {
	var now scope
	locked(func(*ir.Recorder) { now = shared().current })
	if to := now.attention; to != nil {
		*to = append(*to, recordedAttention{Path: now.Path, Layer: now.Kind, Weights: AttentionWeights(q, k, see)})
	}
}

// RotaryEmbedding rotates pairs of elements of x [N, H, T, D] by angles that are proportional to the
// positions [T], so that products of rotated vectors depend on differences of positions (Su et al.,
// RoFormer, 2021). As in Llama, element i forms a pair with element i + D/2:
//
//	angle = position · base^(-2i/D)
//	yᵢ       = xᵢ·cos(angle) - xᵢ₊D/₂·sin(angle)
//	yᵢ₊D/₂ = xᵢ₊D/₂·cos(angle) + xᵢ·sin(angle)
func RotaryEmbedding(x, positions *Tensor, base float64) *Tensor {
	shape := x.Shape()
	if len(shape) != 4 || shape[3]%2 != 0 || positions.NDim() != 1 || positions.Size(0) != shape[2] || !(base > 0) {
		panic(&ShapeError{Op: "RotaryEmbedding", Shapes: [][]int{shape, positions.Shape()}, Hint: fmt.Sprintf("x must be [N, H, T, D] with an even D, the positions [T], and the base %g positive", base)})
	}
	half := shape[3] / 2
	frequencies := make([]float32, half)
	for i := range frequencies {
		frequencies[i] = float32(math.Pow(base, -float64(i)/float64(half)))
	}
	var s scratch
	defer s.release()
	keep := s.keep
	angles := keep(keep(keep(positions.Cast(Float32)).Reshape(shape[2], 1)).Mul(keep(New(frequencies, half))))
	cos, sin := keep(keep(angles.Cos()).Cast(x.DType())), keep(keep(angles.Sin()).Cast(x.DType()))
	first, second := keep(x.Slice(3, 0, half)), keep(x.Slice(3, half, 2*half))
	return Concat(3,
		keep(keep(first.Mul(cos)).Sub(keep(second.Mul(sin)))),
		keep(keep(second.Mul(cos)).Add(keep(first.Mul(sin)))))
}

// WithLengths runs f, a pass of a model, with the lengths of the sequences of its batch: [N], of type
// int32. The sequences are padded at the end to the given number of positions. Layers that work on
// sequences [N, positions, …], such as attention and recurrent layers, ignore the padding. A length
// outside of 1..positions is an *IndexError: now, or when the length is computed.
func WithLengths(lengths *Tensor, positions int, f func()) {
	if lengths != nil {
		lengths = checkLengths("WithLengths", lengths, 1, positions)
	}
	withScope(func(s *scope) { s.lengths, s.positions = lengths, positions }, f)
}

// Lengths returns what the innermost running [WithLengths] has set, nil if there is none.
func Lengths() (lengths *Tensor, positions int) {
	locked(func(*ir.Recorder) { lengths, positions = shared().current.lengths, shared().current.positions })
	return lengths, positions
}

// checkLengths returns lengths [N] of sequences, of type int32. It panics with an *IndexError if one is
// outside of from..to and already computed; else the result is computed with the check.
func checkLengths(op string, lengths *Tensor, from, to int) *Tensor {
	if known, _ := Lengths(); known == lengths {
		return lengths // WithLengths has checked them
	}
	return compute(composite{name: op}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		if v[0].DType() != Int32 || r.CheckRange(op, v[0], from, to+1) || r.Tracing() {
			return v[0]
		}
		// The check of an index begins at 0, and only floats have arithmetic.
		shift := func(v *ir.Value, by int, to DType) *ir.Value {
			return r.Record(ir.Cast{To: to}, r.Record(ir.AddScalar{Scalar: float64(by)}, r.Record(ir.Cast{To: Float64}, v)))
		}
		index := r.Record(ir.Index{For: op, From: from, Size: to - from + 1}, shift(v[0], -from, Int64))
		return shift(index, from, Int32)
	}, lengths)
}

// WithPositions runs f, a pass of a model, with rows in which several sequences are packed one after the
// other. positions [N, T], of type int32, has the position of each token in its sequence: it restarts at
// 0 where a sequence begins. Layers that attend keep the sequences apart, and those that know positions
// use these. In f, [Attention], [MaskedAttention] and [AttentionWeights] panic with a *StateError without
// a Mask or a Bias, since they would attend to other sequences.
func WithPositions(positions *Tensor, f func()) {
	if positions != nil && (positions.NDim() != 2 || positions.DType() != Int32) {
		panic(&ShapeError{Op: "WithPositions", Shapes: [][]int{positions.Shape()}, Hint: "positions must be [N T] of type int32"})
	}
	withScope(func(s *scope) { s.packed = positions }, f)
}

// Positions returns what the innermost running [WithPositions] has set, nil if there is none. Two tokens
// of a row are of the same sequence if index minus position is the same for both.
func Positions() (positions *Tensor) {
	locked(func(*ir.Recorder) { positions = shared().current.packed })
	return positions
}

// requireApart panics if sequences are packed and nothing keeps them apart.
func requireApart(op string, see AttentionMask) {
	if see.Mask == nil && see.Bias == nil && Positions() != nil {
		panic(&StateError{Op: op, Hint: "the rows of the batch are packed sequences, which would attend to each other: use a layer of package nn, set AttentionMask.Mask from tensor.Positions, or train without PackSequences"})
	}
}
