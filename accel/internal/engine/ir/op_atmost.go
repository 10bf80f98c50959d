package ir

// AtMost computes y = min(x, Scalar), elementwise; NaN stays NaN.
type AtMost struct {
	unaryOp
	Scalar float64
}

func (AtMost) Name() string     { return "AtMost" }
func (AtMost) Formula() Formula { return Apply(Minimum{}, X, Scalar) }

// AppendWords appends the bound.
func (o AtMost) AppendWords(w []uint64) []uint64 { return append(w, scalarWord(o.Scalar)) }

// Gradient returns dy where x is below the bound, as torch's clamp.
func (o AtMost) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	d := in[0].dtype
	below := r.Record(Greater{}, r.scalar(o.Scalar, d), in[0])
	return []*Value{r.Record(Where{}, below, dy, r.scalar(0, d))}
}
