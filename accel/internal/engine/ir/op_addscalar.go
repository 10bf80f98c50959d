package ir

// AddScalar computes y = x + s, elementwise. s may change from run to run of a plan.
type AddScalar struct {
	unaryOp
	Scalar float64
}

func (AddScalar) Name() string     { return "AddScalar" }
func (AddScalar) Formula() Formula { return Apply(Add{}, X, Scalar) }

// AppendWords appends s.
func (o AddScalar) AppendWords(w []uint64) []uint64 { return append(w, scalarWord(o.Scalar)) }

// Gradient returns dy.
func (o AddScalar) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{dy}
}
