package ir

// Sin computes y = sin x, elementwise, x in radians.
type Sin struct{ unaryOp }

func (Sin) Name() string { return "Sin" }
func (Sin) onnx() string { return "Sin" }

// Gradient returns dy·cos x.
func (Sin) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.Mul(dy, r.Record(Cos{}, in[0]))}
}
