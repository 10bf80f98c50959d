package ir

// GELU is y = x·Φ(x) with the normal distribution's Φ (Hendrycks and Gimpel,
// arXiv:1606.08415; the exact form, not the tanh approximation), elementwise.
type GELU struct{ unaryOp }

// Name is GELU.
func (GELU) Name() string { return "GELU" }

// Gradient of GELU is dy·(Φ(x) + x·φ(x)).
func (GELU) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(GELUGradient{}, dy, in[0])}
}

// GELUGradient is dx = dy·(Φ(x) + x·φ(x)).
type GELUGradient struct {
	binaryOp
	noGradient
}

// Name is GELUGradient.
func (GELUGradient) Name() string { return "GELUGradient" }
