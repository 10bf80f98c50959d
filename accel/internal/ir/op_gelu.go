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
