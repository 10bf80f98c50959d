package ir

import (
	"math"
	"slices"
)

// Attention computes y = softmax(q·kᵀ·Scale)·v for q [B, H, T, D], k [B, H, S, D] and v [B,
// H, S, E]; with Causal, query i sees keys 0 to i only (torch's
// scaled_dot_product_attention). Scores are computed block by block and not stored, so
// memory grows with T and not with T·S (Dao et al., arXiv:2205.14135).
//
// A fourth input, of which each dimension is that of the scores [B, H, T, S] or 1, is added
// to them; -Inf masks a key. A query whose keys are all masked returns 0. No gradient flows
// into it.
//
// The result is flat: y [B, T, H, E], in which the heads of a query are side by side as a projection
// reads them, and then for each query [B, H, T] the logarithm of its row's sum,
// ln Σ exp(q·kᵀ·Scale), from which the gradient recomputes the scores. Where the planner makes the
// result of 16 bits, the logarithms are of float32 nevertheless: see storedBytes.
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
	return appendFloat(appendFlag(key, o.Causal), o.Scale)
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

// storedBytes returns the size of the result in memory.
func (Attention) storedBytes(in []*Value, result, stored DType) int {
	rows := Len(in[0].shape[:3])
	return rows * (last(in[2].shape)*stored.Size() + result.Size())
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
	g := AttentionGradient{Attention: o, Joined: joined(in[0], in[1], in[2])}
	all := r.Record(g, args...)
	grads := make([]*Value, len(in))
	if g.Joined {
		b, h, t, d := in[0].shape[0], in[0].shape[1], in[0].shape[2], in[0].shape[3]
		each := r.Reshape(all, []int{b, t, 3, h, d})
		for i := range in[:3] {
			one := r.Record(Slice{Axis: 2, From: i, To: i + 1}, each)
			grads[i] = r.swap(r.Reshape(one, []int{b, t, h, d}), 1, 2)
		}
		return grads
	}
	at := 0
	for i, v := range in[:3] {
		grads[i] = r.heads(all, at, v.shape)
		at += v.Len()
	}
	return grads
}

// Compose computes the scores, their softmax and its product with v. It stores all scores.
func (o Attention) Compose(r *Recorder, in []*Value) *Value {
	q, v := in[0], in[2]
	if Len(q.shape[:3]) == 0 {
		return r.Reshape(q, []int{0})
	}
	scores := o.scores(r, in[:2], in[3:])
	top := r.keep(r.Record(Max{Axis: 3}, scores), 3)
	zero, one := r.scalar(0, q.dtype), r.scalar(1, q.dtype)
	seen := r.Record(Not{}, r.Record(Eq{}, top, r.scalar(math.Inf(-1), q.dtype))) // whether a query sees any key
	top = r.Record(Where{}, seen, top, zero)
	e := r.Record(Exp{}, r.Record(Sub{}, scores, top))
	total := r.Record(Where{}, seen, r.sumLast(e), one)
	y := r.Record(MatMul{}, r.Record(Div{}, e, total), v)
	sums := r.Add(top, r.Record(Log{}, total))
	return r.Record(Concat{}, r.flat(r.swap(y, 1, 2)), r.flat(sums))
}

// scores returns q·kᵀ·Scale and what is added to it, [B, H, T, S]; -Inf for keys that a query does not see.
func (o Attention) scores(r *Recorder, qk, added []*Value) *Value {
	scores := r.MulScalar(r.Record(MatMul{}, qk[0], r.swapLast(qk[1])), o.Scale)
	if len(added) == 1 {
		scores = r.Add(scores, added[0])
	}
	if o.Causal {
		ones := r.Record(Fill{Value: 1, Shape: append([]int{}, scores.shape[2:]...), DType: Float32})
		scores = r.Record(Where{}, r.Record(Triangle{}, ones), scores, r.scalar(math.Inf(-1), scores.dtype))
	}
	return scores
}

// flat returns the elements of v as a vector.
func (r *Recorder) flat(v *Value) *Value { return r.Reshape(v, []int{v.Len()}) }

// heads returns a range of a flat value that holds the heads [B, H, T, D] in the order [B, T, H, D].
func (r *Recorder) heads(v *Value, from int, shape []int) *Value {
	return r.swap(r.part(v, from, []int{shape[0], shape[2], shape[1], shape[3]}), 1, 2)
}

// joined reports whether queries, keys and values are next to each other in the rows of one value,
// as is the result of one projection. Then so are their gradients.
func joined(q, k, v *Value) bool {
	if !sameShape(q.shape, k.shape) || !sameShape(q.shape, v.shape) || q.Len() == 0 {
		return false
	}
	base, first, _ := viewed(q)
	second, keys, _ := viewed(k)
	third, values, _ := viewed(v)
	row := q.shape[1] * q.shape[3]
	return base == second && base == third && slices.Equal(first.Stride, keys.Stride) && slices.Equal(first.Stride, values.Stride) &&
		keys.Offset == first.Offset+row && values.Offset == keys.Offset+row
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
	return r.heads(r.Record(o, in...), 0, []int{in[0].shape[0], in[0].shape[1], in[0].shape[2], in[2].shape[3]})
}

// AttentionGradient computes the gradients of q, k and v from q, k, v, Attention's result, the gradient
// [B, T, H, E] of y, and the optional tensor added to the scores. They are [B, T, H, D], one
// after the other, or with Joined side by side: [B, T, 3, H, D].
type AttentionGradient struct {
	gradientOp
	Attention
	Joined bool
}

func (AttentionGradient) Name() string { return "AttentionGradient" }

// AppendKey appends all parameters.
func (o AttentionGradient) AppendKey(key []byte) []byte {
	return appendFlag(o.Attention.AppendKey(key), o.Joined)
}

// Rows returns how many elements apart the rows of the gradients of q, k and v are, and where they
// start, given the shapes [B, H, T, D] of q and [B, H, S, E] of v.
func (o AttentionGradient) Rows(q, v []int) (pitch, from [3]int) {
	heads := q[1]
	if o.Joined {
		row := heads * q[3]
		return [3]int{3 * row, 3 * row, 3 * row}, [3]int{0, row, 2 * row}
	}
	keys := v[0] * heads * v[2] * q[3]
	return [3]int{heads * q[3], heads * q[3], heads * v[3]}, [3]int{0, Len(q), Len(q) + keys}
}

// multiplyAdds counts five multiplications: the scores again, and those of the gradients.
func (AttentionGradient) multiplyAdds(in [][]int, _ []int) int {
	return Len(in[0][:3]) * in[1][2] * (3*last(in[0]) + 2*last(in[2]))
}

// Infer returns the number of elements of q, k and v.
func (AttentionGradient) Infer(in []*Value) (Type, error) {
	return Type{[]int{in[0].Len() + in[1].Len() + in[2].Len()}, in[0].dtype}, nil
}

// Compose computes the probabilities again and applies the formula of Attention's gradient.
func (o AttentionGradient) Compose(r *Recorder, in []*Value) *Value {
	q, k, v, out := in[0], in[1], in[2], in[3]
	shape := []int{q.shape[0], q.shape[1], q.shape[2], last(v.shape)}
	dy := r.swap(r.Reshape(in[4], []int{shape[0], shape[2], shape[1], shape[3]}), 1, 2)
	y, sums := r.heads(out, 0, shape), r.part(out, Len(shape), append(shape[:3:3], 1))
	p := r.Record(Exp{}, r.Record(Sub{}, o.scores(r, in[:2], in[5:]), sums))
	slopes := r.Record(MatMul{}, dy, r.swapLast(v))
	slopes = r.MulScalar(r.Mul(p, r.Record(Sub{}, slopes, r.sumLast(r.Mul(dy, y)))), o.Scale)
	grads := []*Value{r.Record(MatMul{}, slopes, k), r.Record(MatMul{}, r.swapLast(slopes), q), r.Record(MatMul{}, r.swapLast(p), dy)}
	for i, g := range grads {
		g = r.swap(g, 1, 2)
		if o.Joined {
			grads[i] = r.keep(g, 2)
		} else {
			grads[i] = r.flat(g)
		}
	}
	if o.Joined {
		return r.flat(r.Record(Concat{Axis: 2}, grads...))
	}
	return r.Record(Concat{}, grads...)
}
