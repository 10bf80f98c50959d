package ir

// Sigmoid is y = 1/(1+e⁻ˣ), elementwise.
type Sigmoid struct{ unaryOp }

// Name is Sigmoid.
func (Sigmoid) Name() string { return "Sigmoid" }

// Gradient of Sigmoid is dy·y·(1-y).
func (Sigmoid) Gradient(r *Recorder, in []*Value, out, dy *Value, _ []bool) []*Value {
	t := r.Mul(dy, out)
	return []*Value{r.Record(Sub{}, t, r.Mul(t, out))}
}
