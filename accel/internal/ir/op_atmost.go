package ir

// AtMost computes y = min(x, Scalar), elementwise; NaN stays NaN.
type AtMost struct {
	unaryOp
	Scalar float64
}

func (AtMost) Name() string { return "AtMost" }

// AppendWords appends the bound.
func (o AtMost) AppendWords(w []uint64) []uint64 { return append(w, scalarWord(o.Scalar)) }

// Gradient returns dy where x is not above the bound, as torch's clamp.
func (o AtMost) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	d := in[0].dtype
	above := r.Record(Greater{}, in[0], r.scalar(o.Scalar, d))
	return []*Value{r.Record(Where{}, above, r.scalar(0, d), dy)}
}
