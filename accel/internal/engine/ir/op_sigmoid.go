package ir

// Sigmoid computes y = 1/(1+e⁻ˣ), elementwise.
type Sigmoid struct{ unaryOp }

func (Sigmoid) Name() string { return "Sigmoid" }
func (Sigmoid) onnx() string { return "Sigmoid" }

// Gradient returns dy·y·(1-y).
func (Sigmoid) Gradient(r *Recorder, in []*Value, out, dy *Value, _ []bool) []*Value {
	t := r.Mul(dy, out)
	return []*Value{r.Record(Sub{}, t, r.Mul(t, out))}
}
