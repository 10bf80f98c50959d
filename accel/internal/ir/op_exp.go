package ir

// Exp is y = eˣ, elementwise.
type Exp struct{ unaryOp }

// Name is Exp.
func (Exp) Name() string { return "Exp" }

// Gradient of Exp is dy·y.
func (Exp) Gradient(r *Recorder, in []*Value, out, dy *Value, _ []bool) []*Value {
	return []*Value{r.Mul(dy, out)}
}
