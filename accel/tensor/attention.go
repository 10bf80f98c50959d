package tensor

import (
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
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
	return y
}

// bias returns what to add to the scores, with four dimensions, or nil.
func (s AttentionMask) bias(keys *Tensor) *Tensor {
	const op = "MaskedAttention"
	d := keys.DType()
	if d.Is16Bit() {
		d = Float32
	}
	var made []*Tensor // intermediate results, released at the end
	keep := func(t *Tensor) *Tensor {
		made = append(made, t)
		return t
	}
	var all *Tensor
	defer func() {
		for _, t := range made {
			if t != all {
				t.Release()
			}
		}
	}()
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
