package ir

// LogSoftmax computes y = x - ln Σeˣ along the last axis.
type LogSoftmax struct{}

// Name returns "LogSoftmax".
func (LogSoftmax) Name() string { return "LogSoftmax" }

// Class returns Whole: LogSoftmax is a step of its own.
func (LogSoftmax) Class([]*Value) Class { return Whole }

// AppendKey appends nothing.
func (LogSoftmax) AppendKey(key []byte) []byte { return key }

// Infer returns the input's type.
func (LogSoftmax) Infer(in []*Value) (Type, error) { return inferRows(in) }

// Gradient returns dy - eʸ·Σ dy.
func (LogSoftmax) Gradient(r *Recorder, _ []*Value, out, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(Sub{}, dy, r.Mul(r.Record(Exp{}, out), r.sumLast(dy)))}
}
