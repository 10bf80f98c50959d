package ir

// HardSwish computes y = x·min(max(x+3, 0), 6)/6, elementwise (Howard et al., arXiv:1905.02244).
type HardSwish struct{ unaryOp }

func (HardSwish) Name() string { return "HardSwish" }
func (HardSwish) onnx() string { return "HardSwish" }

// Formula divides before it multiplies with x, so that it is finite for every finite x.
func (HardSwish) Formula() Formula {
	ramp := Apply(Minimum{}, Apply(Maximum{}, Apply(Add{}, X, Constant(3)), Constant(0)), Constant(6))
	return Apply(Mul{}, X, Apply(Div{}, ramp, Constant(6)))
}

// Gradient returns dy·(x/3 + ½) for -3 < x < 3, 0 below and dy above.
func (HardSwish) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	x, d := in[0], in[0].dtype
	inner := r.Mul(dy, r.Record(AddScalar{Scalar: 0.5}, r.MulScalar(x, 1./3)))
	low := r.Record(Where{}, r.Record(Greater{}, x, r.scalar(-3, d)), inner, r.scalar(0, dy.dtype))
	return []*Value{r.Record(Where{}, r.Record(Greater{}, r.scalar(3, d), x), low, dy)}
}
