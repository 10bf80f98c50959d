package ir

// Exp computes y = eˣ, elementwise.
type Exp struct{ unaryOp }

func (Exp) Name() string       { return "Exp" }
func (Exp) Autocast() Autocast { return CastFloat32 }
func (Exp) onnx() string       { return "Exp" }

// Gradient returns dy·y.
func (Exp) Gradient(r *Recorder, in []*Value, out, dy *Value, _ []bool) []*Value {
	return []*Value{r.Mul(dy, out)}
}
