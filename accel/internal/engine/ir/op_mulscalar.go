package ir

// MulScalar computes y = s·x, elementwise. s may change from run to run of a plan.
type MulScalar struct {
	unaryOp
	Scalar float64
}

func (MulScalar) Name() string     { return "MulScalar" }
func (MulScalar) Formula() Formula { return Apply(Mul{}, X, Scalar) }

// AppendWords appends s.
func (o MulScalar) AppendWords(w []uint64) []uint64 { return append(w, scalarWord(o.Scalar)) }

// Gradient returns s·dy.
func (o MulScalar) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.MulScalar(dy, o.Scalar)}
}

// MulScalar records s·x.
func (r *Recorder) MulScalar(x *Value, s float64) *Value {
	return r.Record(MulScalar{Scalar: s}, x)
}
