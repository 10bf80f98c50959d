package ir

// Sqrt computes y = √x, elementwise; NaN below zero.
type Sqrt struct{ unaryOp }

func (Sqrt) Name() string { return "Sqrt" }
func (Sqrt) onnx() string { return "Sqrt" }

// Gradient returns dy/(2y).
func (Sqrt) Gradient(r *Recorder, in []*Value, out, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(Div{}, r.MulScalar(dy, 0.5), out)}
}
