package ir

// Sin computes y = sin x, elementwise, x in radians.
type Sin struct{ unaryOp }

// Name returns "Sin".
func (Sin) Name() string { return "Sin" }

// Gradient returns dy·cos x.
func (Sin) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.Mul(dy, r.Record(Cos{}, in[0]))}
}
