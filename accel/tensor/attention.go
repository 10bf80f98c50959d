package tensor

import (
	"math"

	"github.com/quernlab/quern/accel/internal/ir"
)

// Attention is softmax(q·kᵀ/√D)·v for queries [B, H, T, D], keys [B, H, S, D] and
// values [B, H, S, E] of B examples and H heads; it gives [B, H, T, E]. With
// causal, query i sees the keys 0 to i only. It is what torch's
// scaled_dot_product_attention computes, in one step whose memory grows with T
// but not with T·S: the gradient makes the scores again.
func Attention(q, k, v *Tensor, causal bool) *Tensor {
	return compute("Attention", func(r *ir.Recorder, in []*ir.Value) *ir.Value {
		scale := 1.0
		if s := in[0].Shape(); len(s) == 4 && s[3] > 0 {
			scale = 1 / math.Sqrt(float64(s[3]))
		}
		return r.Attention(ir.Attention{Causal: causal, Scale: scale}, in[0], in[1], in[2])
	}, q, k, v)
}
