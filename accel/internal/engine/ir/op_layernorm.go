package ir

import "math"

// LayerNorm computes y = (x - mean)/√(variance + Epsilon)·w + b along the last axis of x
// [N…, D], for w and b [D] and the variance that divides by D (Ba et al.,
// arXiv:1607.06450); torch's layer_norm.
type LayerNorm struct {
	wholeOp
	Epsilon float64
}

func (LayerNorm) Name() string       { return "LayerNorm" }
func (LayerNorm) Autocast() Autocast { return CastFloat32 }

// AppendKey appends Epsilon.
func (o LayerNorm) AppendKey(key []byte) []byte { return appendFloat(key, o.Epsilon) }

func appendFloat(key []byte, f float64) []byte { return appendInts(key, int(math.Float64bits(f))) }

// Infer returns x's type.
func (LayerNorm) Infer(in []*Value) (Type, error) { return inferNorm(in) }

// inferNorm requires parameters with one element per element of the last axis.
func inferNorm(in []*Value) (Type, error) {
	if err := wantFloat(in...); err != nil {
		return Type{}, err
	}
	x := in[0].shape
	for _, p := range in[1:] {
		if len(x) == 0 || !sameShape(p.shape, x[len(x)-1:]) {
			return Type{}, &ShapeError{Hint: "x [N… D] and parameters [D] are needed"}
		}
	}
	return Type{x, in[0].dtype}, nil
}

// Compose multiplies the normalized rows by w and adds b.
func (o LayerNorm) Compose(r *Recorder, in []*Value) *Value {
	x, _ := r.normalized(in[0], true, o.Epsilon)
	return r.Add(r.Mul(x, in[1]), in[2])
}

// normalized returns x̂ along the last axis, and 1/√(variance + epsilon) or, if x is not centered, 1/√(mean(x²) +
// epsilon).
func (r *Recorder) normalized(x *Value, centered bool, epsilon float64) (y, scale *Value) {
	if centered {
		x = r.Record(Sub{}, x, r.meanLast(x))
	}
	scale = r.inverseRoot(r.meanLast(r.Record(Square{}, x)), epsilon)
	return r.Mul(x, scale), scale
}

// inverseRoot returns 1/√(x + epsilon).
func (r *Recorder) inverseRoot(x *Value, epsilon float64) *Value {
	return r.Record(Div{}, r.scalar(1, x.dtype), r.Record(Sqrt{}, r.Record(AddScalar{Scalar: epsilon}, x)))
}

// normGradient returns (g - mean(g) - x̂·mean(g·x̂))·scale for g = dy·w; without mean(g) if x is not centered.
func (r *Recorder) normGradient(x, dy, w *Value, centered bool, epsilon float64) *Value {
	y, scale := r.normalized(x, centered, epsilon)
	g := r.Mul(dy, w)
	d := r.Record(Sub{}, g, r.Mul(y, r.meanLast(r.Mul(g, y))))
	if centered {
		d = r.Record(Sub{}, d, r.meanLast(g))
	}
	return r.Mul(d, scale)
}

// sumRows returns the sums [D] of the rows of v [N…, D].
func (r *Recorder) sumRows(v *Value) *Value {
	return r.Record(Sum{From: 0, To: len(v.shape) - 1}, v)
}

// rows returns vectors [D] as [N, D].
func (r *Recorder) rows(v ...*Value) *Value {
	for i, x := range v {
		v[i] = r.keep(x, 0)
	}
	if len(v) == 1 {
		return v[0]
	}
	return r.Record(Concat{}, v...)
}

// Gradient returns, with x̂ for the normalized x and g = dy·w, (g - mean(g) -
// x̂·mean(g·x̂))/√(variance + Epsilon) for x, Σ dy·x̂ for w and Σ dy for b.
func (o LayerNorm) Gradient(r *Recorder, in []*Value, _, dy *Value, wants []bool) []*Value {
	out := make([]*Value, 3)
	if wants[0] {
		out[0] = r.Record(LayerNormInputGradient{LayerNorm: o}, in[0], dy, in[1])
	}
	if wants[1] || wants[2] {
		both := r.Record(LayerNormWeightGradient{LayerNorm: o}, in[0], dy)
		out[1], out[2] = r.row(both, 0), r.row(both, 1)
	}
	return out
}

// row returns v[i], a view.
func (r *Recorder) row(v *Value, i int) *Value {
	return r.Reshape(r.Record(Slice{Axis: 0, From: i, To: i + 1}, v), v.shape[1:])
}

// LayerNormInputGradient computes the gradient dx of LayerNorm from x, dy and w.
type LayerNormInputGradient struct {
	gradientOp
	LayerNorm
}

func (LayerNormInputGradient) Name() string { return "LayerNormInputGradient" }

// Infer returns x's type.
func (LayerNormInputGradient) Infer(in []*Value) (Type, error) {
	return Type{in[0].shape, in[0].dtype}, nil
}

// Compose applies the formula of LayerNorm's gradient.
func (o LayerNormInputGradient) Compose(r *Recorder, in []*Value) *Value {
	return r.normGradient(in[0], in[1], in[2], true, o.Epsilon)
}

// LayerNormWeightGradient is dw and db of LayerNorm, [2, D], from x and dy.
type LayerNormWeightGradient struct {
	gradientOp
	LayerNorm
}

func (LayerNormWeightGradient) Name() string { return "LayerNormWeightGradient" }

// Infer returns [2, D].
func (LayerNormWeightGradient) Infer(in []*Value) (Type, error) {
	return Type{[]int{2, in[0].shape[len(in[0].shape)-1]}, in[0].dtype}, nil
}

// Compose sums over the rows.
func (o LayerNormWeightGradient) Compose(r *Recorder, in []*Value) *Value {
	y, _ := r.normalized(in[0], true, o.Epsilon)
	return r.rows(r.sumRows(r.Mul(in[1], y)), r.sumRows(in[1]))
}
