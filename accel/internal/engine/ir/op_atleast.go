package ir

// AtLeast computes y = max(x, Scalar), elementwise; NaN stays NaN.
type AtLeast struct {
	unaryOp
	Scalar float64
}

func (AtLeast) Name() string     { return "AtLeast" }
func (AtLeast) Formula() Formula { return Apply(Maximum{}, X, Scalar) }

// AppendWords appends the bound.
func (o AtLeast) AppendWords(w []uint64) []uint64 { return append(w, scalarWord(o.Scalar)) }

// Gradient returns dy where x is above the bound, as torch's clamp.
func (o AtLeast) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	d := in[0].dtype
	above := r.Record(Greater{}, in[0], r.scalar(o.Scalar, d))
	return []*Value{r.Record(Where{}, above, dy, r.scalar(0, d))}
}
