package ir

// RMSNorm computes y = x/√(mean(x²) + Epsilon)·w along the last axis of x [N…, D], for w
// [D] (Zhang and Sennrich, arXiv:1910.07467); torch's rms_norm.
type RMSNorm struct {
	wholeOp
	Epsilon float64
}

func (RMSNorm) Name() string       { return "RMSNorm" }
func (RMSNorm) Autocast() Autocast { return CastFloat32 }

// AppendKey appends Epsilon.
func (o RMSNorm) AppendKey(key []byte) []byte { return appendFloat(key, o.Epsilon) }

// Infer returns x's type.
func (RMSNorm) Infer(in []*Value) (Type, error) { return inferNorm(in) }

// Compose multiplies the normalized rows by w.
func (o RMSNorm) Compose(r *Recorder, in []*Value) *Value {
	x, _ := r.normalized(in[0], false, o.Epsilon)
	return r.Mul(x, in[1])
}

// Gradient returns, with x̂ for the normalized x and g = dy·w, (g -
// x̂·mean(g·x̂))/√(mean(x²) + Epsilon) for x and Σ dy·x̂ for w.
func (o RMSNorm) Gradient(r *Recorder, in []*Value, _, dy *Value, wants []bool) []*Value {
	out := make([]*Value, 2)
	if wants[0] {
		out[0] = r.Record(RMSNormInputGradient{RMSNorm: o}, in[0], dy, in[1])
	}
	if wants[1] {
		out[1] = r.row(r.Record(RMSNormWeightGradient{RMSNorm: o}, in[0], dy), 0)
	}
	return out
}

// RMSNormInputGradient computes the gradient dx of RMSNorm from x, dy and w.
type RMSNormInputGradient struct {
	gradientOp
	RMSNorm
}

func (RMSNormInputGradient) Name() string { return "RMSNormInputGradient" }

// Infer returns x's type.
func (RMSNormInputGradient) Infer(in []*Value) (Type, error) {
	return Type{in[0].shape, in[0].dtype}, nil
}

// Compose applies the formula of RMSNorm's gradient.
func (o RMSNormInputGradient) Compose(r *Recorder, in []*Value) *Value {
	return r.normGradient(in[0], in[1], in[2], false, o.Epsilon)
}

// RMSNormWeightGradient computes the gradient dw of RMSNorm, [1, D], from x and dy.
type RMSNormWeightGradient struct {
	gradientOp
	RMSNorm
}

func (RMSNormWeightGradient) Name() string { return "RMSNormWeightGradient" }

// Infer returns [1, D].
func (RMSNormWeightGradient) Infer(in []*Value) (Type, error) {
	return Type{[]int{1, in[0].shape[len(in[0].shape)-1]}, in[0].dtype}, nil
}

// Compose sums over the rows.
func (o RMSNormWeightGradient) Compose(r *Recorder, in []*Value) *Value {
	y, _ := r.normalized(in[0], false, o.Epsilon)
	return r.rows(r.sumRows(r.Mul(in[1], y)))
}
