package ir

// ELU computes y = x for x > 0, else Scalar·(eˣ - 1), elementwise (Clevert et al.,
// arXiv:1511.07289).
type ELU struct {
	unaryOp
	Scalar float64
}

func (ELU) Name() string { return "ELU" }

// AppendWords appends the scale.
func (o ELU) AppendWords(w []uint64) []uint64 { return append(w, scalarWord(o.Scalar)) }

// Gradient returns dy for x > 0, else dy·(y + Scalar).
func (o ELU) Gradient(r *Recorder, in []*Value, out, dy *Value, _ []bool) []*Value {
	positive := r.Record(Greater{}, in[0], r.scalar(0, in[0].dtype))
	slope := r.Record(AddScalar{Scalar: o.Scalar}, out)
	return []*Value{r.Record(Where{}, positive, dy, r.Mul(dy, slope))}
}
