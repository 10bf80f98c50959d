package ir

// Abs computes y = |x|, elementwise.
type Abs struct{ unaryOp }

func (Abs) Name() string { return "Abs" }
func (Abs) onnx() string { return "Abs" }

// Gradient returns dy·sign(x), zero at zero.
func (Abs) Gradient(r *Recorder, in []*Value, out, dy *Value, _ []bool) []*Value {
	return []*Value{r.Mul(dy, r.Record(Sign{}, in[0]))}
}
