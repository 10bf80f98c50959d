package ir

// GELU computes y = x·Φ(x) with the normal distribution's Φ (Hendrycks and Gimpel,
// arXiv:1606.08415; the exact form, not the tanh approximation), elementwise.
type GELU struct{ unaryOp }

func (GELU) Name() string { return "GELU" }
func (GELU) onnx() string { return "Gelu" }

// Gradient returns dy·(Φ(x) + x·φ(x)).
func (GELU) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(GELUGradient{}, dy, in[0])}
}

// GELUGradient computes dx = dy·(Φ(x) + x·φ(x)).
type GELUGradient struct {
	binaryOp
	gradientOp
}

func (GELUGradient) Name() string { return "GELUGradient" }

// GELUTanh computes y = x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))), elementwise: torch's gelu with
// approximate="tanh".
type GELUTanh struct{ unaryOp }

func (GELUTanh) Name() string { return "GELUTanh" }

// Formula returns x·(1 + t)/2.
func (GELUTanh) Formula() Formula {
	t := geluTanhOf(X)
	return Apply(Mul{}, Apply(Mul{}, X, Apply(Add{}, t, Constant(1))), Constant(0.5))
}

// The factors of x and x³ in the argument of tanh.
const (
	geluTanhFactor = 0.7978845608028654 // √(2/π)
	geluTanhCube   = 0.044715
)

// geluTanhOf returns the formula of t = tanh(√(2/π)·(x + 0.044715·x³)).
func geluTanhOf(x Formula) Formula {
	square := Apply(Mul{}, x, x)
	cube := Apply(Mul{}, Apply(Mul{}, square, x), Constant(geluTanhCube))
	return Apply(Tanh{}, Apply(Mul{}, Apply(Add{}, cube, x), Constant(geluTanhFactor)))
}

// Gradient returns dy·y′.
func (GELUTanh) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(GELUTanhGradient{}, dy, in[0])}
}

// GELUTanhGradient computes dx = dy·((1 + t)/2 + x/2·(1 - t²)·√(2/π)·(1 + 3·0.044715·x²)), from
// dy and x.
type GELUTanhGradient struct {
	binaryOp
	gradientOp
}

func (GELUTanhGradient) Name() string { return "GELUTanhGradient" }

// Formula limits x: beyond 100, the slope is exactly 0 or 1, but x³ may be infinite.
func (GELUTanhGradient) Formula() Formula {
	x := Apply(Minimum{}, Apply(Maximum{}, Y, Constant(-100)), Constant(100))
	t := geluTanhOf(x)
	inner := Apply(Mul{}, Apply(Add{}, Apply(Mul{}, Apply(Mul{}, x, x), Constant(3*geluTanhCube)), Constant(1)), Constant(geluTanhFactor))
	curve := Apply(Mul{}, Apply(Mul{}, x, Apply(Sub{}, Constant(1), Apply(Mul{}, t, t))), inner)
	return Apply(Mul{}, X, Apply(Mul{}, Apply(Add{}, Apply(Add{}, t, Constant(1)), curve), Constant(0.5)))
}
