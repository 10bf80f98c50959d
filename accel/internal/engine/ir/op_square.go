package ir

// Square computes y = x², elementwise.
type Square struct{ unaryOp }

func (Square) Name() string     { return "Square" }
func (Square) Formula() Formula { return Apply(Mul{}, X, X) }

// Gradient returns 2x·dy.
func (Square) Gradient(r *Recorder, in []*Value, out, dy *Value, _ []bool) []*Value {
	return []*Value{r.Mul(r.MulScalar(dy, 2), in[0])}
}
