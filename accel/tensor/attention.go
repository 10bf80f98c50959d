package tensor

import (
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/ir"
)

// Attention is softmax(q·kᵀ/√D)·v for queries [B, H, T, D], keys [B, H, S, D] and
// values [B, H, S, E] of B examples and H heads; it gives [B, H, T, E]. With
// causal, query i sees the keys 0 to i only. It is what torch's
// scaled_dot_product_attention computes, in one step whose memory grows with T
// but not with T·S: the gradient makes the scores again. Where other keys are to
// be hidden, see [MaskedAttention].
func Attention(q, k, v *Tensor, causal bool) *Tensor {
	return attention(causal, q, k, v)
}

func attention(causal bool, in ...*Tensor) *Tensor {
	return compute("Attention", func(r *ir.Recorder, in []*ir.Value) *ir.Value {
		scale := 1.0
		if s := in[0].Shape(); len(s) == 4 && s[3] > 0 {
			scale = 1 / math.Sqrt(float64(s[3]))
		}
		return r.Attention(ir.Attention{Causal: causal, Scale: scale}, in...)
	}, in...)
}

// AttentionMask says which keys the queries see in [MaskedAttention]. What it names
// holds together: a key is seen where all of it agrees.
type AttentionMask struct {
	Causal bool // query i sees the keys 0 to i only

	// Mask hides a key from a query where it is 0; nil hides nothing. Its shape
	// is that of the scores [B, H, T, S], or has 1 for any of them, or is without
	// some of the first. The type is any; torch's mask of type bool.
	Mask *Tensor
	// Bias is added to the scores, -Inf hides a key; nil adds nothing. The shape
	// is as Mask's. torch's mask of floats. It has no gradient.
	Bias *Tensor
	// Lengths [B], of type int32, is how many keys each example has: those from
	// there on are padding and hidden. nil means all.
	Lengths *Tensor
}

// MaskedAttention is [Attention] in which some keys are hidden. A query that sees
// no key at all gives 0. Its memory is that of Attention and of what see holds:
// a mask of size 1 for queries and heads stays as small as it is.
func MaskedAttention(q, k, v *Tensor, see AttentionMask) *Tensor {
	added := see.bias(k)
	if added == nil {
		return Attention(q, k, v, see.Causal)
	}
	defer added.Release()
	return attention(see.Causal, q, k, v, added)
}

// bias returns what is to be added to the scores, of rank 4, or nil.
func (s AttentionMask) bias(keys *Tensor) *Tensor {
	const op = "MaskedAttention"
	d := keys.DType()
	if d.Is16Bit() {
		d = Float32
	}
	var all *Tensor
	add := func(t *Tensor) {
		if all == nil {
			all = t
			return
		}
		all = all.Add(t)
	}
	hidden, seen := Full(math.Inf(-1)).Cast(d), Full(0).Cast(d)
	if s.Mask != nil {
		add(Where(s.Mask.Cast(Bool).Cast(Float32), seen, hidden))
	}
	if s.Lengths != nil {
		shape, n := keys.Shape(), s.Lengths.Shape()
		if len(shape) != 4 || !slices.Equal(n, shape[:1]) || s.Lengths.DType() != Int32 {
			panic(&ShapeError{Op: op, Shapes: [][]int{shape, n}, Hint: "keys [B H S D] and their number [B], of type int32, are needed"})
		}
		places := make([]int, shape[2])
		for i := range places {
			places[i] = i
		}
		add(Where(FromInts(places, 1, 1, 1, len(places)).Less(s.Lengths.Reshape(-1, 1, 1, 1)), seen, hidden))
	}
	if s.Bias != nil {
		if s.Bias.RequiresGrad() {
			panic(&StateError{Op: op, Hint: "no gradient flows into Bias; Detach it, or write the attention with MatMul and Softmax"})
		}
		add(s.Bias.Cast(d))
	}
	if all == nil {
		return nil
	}
	if n := all.NDim(); n < 4 {
		all = all.Reshape(append(slices.Repeat([]int{1}, 4-n), all.Shape()...)...)
	}
	return all
}
