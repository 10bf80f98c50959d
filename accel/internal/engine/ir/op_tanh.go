package ir

// Tanh computes y = tanh x, elementwise.
type Tanh struct{ unaryOp }

func (Tanh) Name() string { return "Tanh" }
func (Tanh) onnx() string { return "Tanh" }

// Gradient returns dy·(1-y²).
func (Tanh) Gradient(r *Recorder, in []*Value, out, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(Sub{}, dy, r.Mul(dy, r.Record(Square{}, out)))}
}
