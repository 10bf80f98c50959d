package ir

// Sin is y = sin x, elementwise, x in radians.
type Sin struct{ unaryOp }

// Name is Sin.
func (Sin) Name() string { return "Sin" }

// Gradient of Sin is dy·cos x.
func (Sin) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.Mul(dy, r.Record(Cos{}, in[0]))}
}
