package ir

// GELU computes y = x·Φ(x) with the normal distribution's Φ (Hendrycks and Gimpel,
// arXiv:1606.08415; the exact form, not the tanh approximation), elementwise.
type GELU struct{ unaryOp }

// Name returns "GELU".
func (GELU) Name() string { return "GELU" }

// Gradient returns dy·(Φ(x) + x·φ(x)).
func (GELU) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(GELUGradient{}, dy, in[0])}
}

// GELUGradient computes dx = dy·(Φ(x) + x·φ(x)).
type GELUGradient struct {
	binaryOp
	noGradient
}

// Name returns "GELUGradient".
func (GELUGradient) Name() string { return "GELUGradient" }
