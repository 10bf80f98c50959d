package ir

// LeakyReLU computes y = x for x > 0, else Scalar·x, elementwise.
type LeakyReLU struct {
	unaryOp
	Scalar float64
}

func (LeakyReLU) Name() string { return "LeakyReLU" }
func (LeakyReLU) Formula() Formula {
	return Apply(Where{}, Apply(Greater{}, X, Constant(0)), X, Apply(Mul{}, Scalar, X))
}

// AppendWords appends the slope.
func (o LeakyReLU) AppendWords(w []uint64) []uint64 { return append(w, scalarWord(o.Scalar)) }

// Gradient returns dy for x > 0, else Scalar·dy.
func (o LeakyReLU) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	positive := r.Record(Greater{}, in[0], r.scalar(0, in[0].dtype))
	return []*Value{r.Record(Where{}, positive, dy, r.MulScalar(dy, o.Scalar))}
}
