package ir

// Abs computes y = |x|, elementwise.
type Abs struct{ unaryOp }

func (Abs) Name() string { return "Abs" }
func (Abs) onnx() string { return "Abs" }

// Gradient returns dy·sign(x), zero at zero.
func (Abs) Gradient(r *Recorder, in []*Value, out, dy *Value, _ []bool) []*Value {
	zero := r.scalar(0, in[0].dtype)
	sign := r.Record(Sub{}, r.Record(Greater{}, in[0], zero), r.Record(Greater{}, zero, in[0]))
	return []*Value{r.Mul(dy, r.as(sign, dy.dtype))}
}
