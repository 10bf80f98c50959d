package ir

// Cos computes y = cos x, elementwise, x in radians.
type Cos struct{ unaryOp }

func (Cos) Name() string { return "Cos" }
func (Cos) onnx() string { return "Cos" }

// Gradient returns -dy·sin x.
func (Cos) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(Neg{}, r.Mul(dy, r.Record(Sin{}, in[0])))}
}
