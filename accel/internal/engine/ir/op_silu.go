package ir

// SiLU computes y = x·σ(x) with the logistic function σ, elementwise (Elfwing et al.,
// arXiv:1702.03118).
type SiLU struct{ unaryOp }

func (SiLU) Name() string     { return "SiLU" }
func (SiLU) Formula() Formula { return Apply(Mul{}, X, Apply(Sigmoid{}, X)) }

// Gradient returns dy·(σ(x) + y·(1 - σ(x))).
func (SiLU) Gradient(r *Recorder, in []*Value, out, dy *Value, _ []bool) []*Value {
	s := r.Record(Sigmoid{}, in[0])
	rest := r.Record(AddScalar{Scalar: 1}, r.Record(Neg{}, s))
	return []*Value{r.Mul(dy, r.Add(s, r.Mul(out, rest)))}
}
