package ir

// Log computes y = ln x, elementwise; NaN below zero, -Inf at zero.
type Log struct{ unaryOp }

func (Log) Name() string       { return "Log" }
func (Log) Autocast() Autocast { return CastFloat32 }
func (Log) onnx() string       { return "Log" }

// Gradient returns dy/x.
func (Log) Gradient(r *Recorder, in []*Value, out, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(Div{}, dy, in[0])}
}
