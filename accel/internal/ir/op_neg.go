package ir

// Neg is y = -x, elementwise.
type Neg struct{ unaryOp }

// Name is Neg.
func (Neg) Name() string { return "Neg" }

// Gradient of Neg is -dy.
func (Neg) Gradient(r *Recorder, in []*Value, out, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(Neg{}, dy)}
}
