package ir

// Neg computes y = -x, elementwise.
type Neg struct{ unaryOp }

func (Neg) Name() string { return "Neg" }
func (Neg) onnx() string { return "Neg" }

// Gradient returns -dy.
func (Neg) Gradient(r *Recorder, in []*Value, out, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(Neg{}, dy)}
}
