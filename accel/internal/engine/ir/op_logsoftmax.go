package ir

// LogSoftmax computes y = x - ln Σeˣ along the last axis.
type LogSoftmax struct{ wholeOp }

func (LogSoftmax) Name() string       { return "LogSoftmax" }
func (LogSoftmax) Autocast() Autocast { return CastFloat32 }
func (LogSoftmax) perElement() int    { return softmaxFLOPs }

func (LogSoftmax) onnx() Operator { return Operator{"LogSoftmax", []Attribute{{"axis", -1}}, nil} }

// Infer returns the input's type.
func (LogSoftmax) Infer(in []*Value) (Type, error) { return inferRows(in) }

// Compose subtracts the logarithm of the sum.
func (LogSoftmax) Compose(r *Recorder, in []*Value) *Value {
	x := r.belowMax(in[0])
	return r.Record(Sub{}, x, r.Record(Log{}, r.sumLast(r.Record(Exp{}, x))))
}

// Gradient returns dy - eʸ·Σ dy.
func (LogSoftmax) Gradient(r *Recorder, _ []*Value, out, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(Sub{}, dy, r.Mul(r.Record(Exp{}, out), r.sumLast(dy)))}
}
