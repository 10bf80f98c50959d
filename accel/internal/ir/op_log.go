package ir

// Log computes y = ln x, elementwise; NaN below zero, -Inf at zero.
type Log struct{ unaryOp }

// Name returns "Log".
func (Log) Name() string { return "Log" }

// Gradient returns dy/x.
func (Log) Gradient(r *Recorder, in []*Value, out, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(Div{}, dy, in[0])}
}
