package ir

import "math"

// Attention computes y = softmax(q·kᵀ·Scale)·v for q [B, H, T, D], k [B, H, S, D] and v [B,
// H, S, E]; with Causal, query i sees keys 0 to i only (torch's
// scaled_dot_product_attention). Scores are computed block by block and not stored, so
// memory grows with T and not with T·S (Dao et al., arXiv:2205.14135).
//
// A fourth input, of which each dimension is that of the scores [B, H, T, S] or 1, is added
// to them; -Inf masks a key. A query whose keys are all masked returns 0. No gradient flows
// into it.
//
// The result is flat: y [B, H, T, E], and then for each query the logarithm of its row's
// sum, ln Σ exp(q·kᵀ·Scale), from which the gradient recomputes the scores.
type Attention struct {
	wholeOp
	Causal bool
	Scale  float64
}

func (Attention) Name() string       { return "Attention" }
func (Attention) Autocast() Autocast { return Cast16Bit }

// multiplyAdds counts both multiplications, without regard to masks.
func (Attention) multiplyAdds(in [][]int, _ []int) int {
	return Len(in[0][:3]) * in[1][2] * (last(in[0]) + last(in[2]))
}

// stridedInputs are queries, keys and values, also those of the gradient.
func (Attention) stridedInputs() int { return 3 }

// AppendKey appends Causal and Scale.
func (o Attention) AppendKey(key []byte) []byte {
	if o.Causal {
		return appendFloat(append(key, 1), o.Scale)
	}
	return appendFloat(append(key, 0), o.Scale)
}

// Infer returns the number of elements of y and of the sums.
func (o Attention) Infer(in []*Value) (Type, error) {
	if err := wantFloat(in...); err != nil {
		return Type{}, err
	}
	q, k, v := in[0].shape, in[1].shape, in[2].shape
	if len(q) != 4 || len(k) != 4 || len(v) != 4 || !sameShape(q[:2], k[:2]) || !sameShape(k[:3], v[:3]) || q[3] != k[3] {
		return Type{}, &ShapeError{Hint: "queries [B H T D], keys [B H S D] and values [B H S E] are needed"}
	}
	if k[2] == 0 && Len(q[:3]) > 0 {
		return Type{}, &ShapeError{Hint: "there are queries but no keys"}
	}
	if len(in) == 4 && !fitsScores(in[3].shape, []int{q[0], q[1], q[2], k[2]}) {
		return Type{}, &ShapeError{Hint: "the tensor that is added to the scores must have the shape " + FormatShape([]int{q[0], q[1], q[2], k[2]}) + ", or 1 in any dimension"}
	}
	if math.IsNaN(o.Scale) {
		return Type{}, &ShapeError{Hint: "the scale is NaN"}
	}
	return Type{[]int{Len(q[:3]) * (v[3] + 1)}, in[0].dtype}, nil
}

// Gradient recomputes the probabilities p and returns, with ds = p·(dy·vᵀ - Σ dy·y)·Scale:
// ds·k for q, dsᵀ·q for k and pᵀ·dy for v.
func (o Attention) Gradient(r *Recorder, in []*Value, out, dy *Value, _ []bool) []*Value {
	if p, ok := dy.op.(Pad); ok && p.Before == 0 { // drop the zeros for the sums
		dy = dy.in[0]
		if _, ok := dy.op.(Reshape); ok { // the same elements, which the planner may read as 16-bit floats
			dy = dy.in[0]
		}
	}
	args := append([]*Value{in[0], in[1], in[2], out, dy}, in[3:]...)
	all := r.Record(AttentionGradient{Attention: o}, args...)
	grads := make([]*Value, len(in))
	at := 0
	for i, v := range in[:3] {
		grads[i] = r.part(all, at, v.shape)
		at += v.Len()
	}
	return grads
}

// part returns a range of a flat value, as a view.
func (r *Recorder) part(v *Value, from int, shape []int) *Value {
	return r.Reshape(r.Record(Slice{Axis: 0, From: from, To: from + Len(shape)}, v), shape)
}

// fitsScores reports whether a shape broadcasts to that of the scores, dimension by
// dimension.
func fitsScores(shape, scores []int) bool {
	if len(shape) != len(scores) {
		return false
	}
	for i, n := range shape {
		if n != 1 && n != scores[i] {
			return false
		}
	}
	return true
}

// Attention records attention of queries, keys, values and an optional tensor that is added
// to the scores. It returns y [B, H, T, E].
func (r *Recorder) Attention(o Attention, in ...*Value) *Value {
	flat := r.Record(o, in...)
	shape := append(append([]int{}, in[0].shape[:3]...), in[2].shape[3])
	return r.part(flat, 0, shape)
}

// AttentionGradient computes the gradients of q, k and v, one after the other, from q, k,
// v, Attention's result and its gradient, and the optional tensor added to the scores.
type AttentionGradient struct {
	gradientOp
	Attention
}

func (AttentionGradient) Name() string { return "AttentionGradient" }

// multiplyAdds counts five multiplications: the scores again, and those of the gradients.
func (AttentionGradient) multiplyAdds(in [][]int, _ []int) int {
	return Len(in[0][:3]) * in[1][2] * (3*last(in[0]) + 2*last(in[2]))
}

// Infer returns the number of elements of q, k and v.
func (AttentionGradient) Infer(in []*Value) (Type, error) {
	return Type{[]int{in[0].Len() + in[1].Len() + in[2].Len()}, in[0].dtype}, nil
}
