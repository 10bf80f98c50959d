package ir

// LogSoftmax is y = x - ln Σeˣ along the last axis.
type LogSoftmax struct{}

// Name is LogSoftmax.
func (LogSoftmax) Name() string { return "LogSoftmax" }

// Class of LogSoftmax is a step of its own.
func (LogSoftmax) Class([]*Value) Class { return Whole }

// AppendKey has nothing to add.
func (LogSoftmax) AppendKey(key []byte) []byte { return key }

// Infer is the input's type.
func (LogSoftmax) Infer(in []*Value) (Type, error) { return inferRows(in) }

// Gradient of LogSoftmax is dy - eʸ·Σ dy.
func (LogSoftmax) Gradient(r *Recorder, _ []*Value, out, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(Sub{}, dy, r.Mul(r.Record(Exp{}, out), r.sumLast(dy)))}
}
