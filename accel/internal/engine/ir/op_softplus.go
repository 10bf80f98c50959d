package ir

// Softplus computes y = ln(1 + eˣ), elementwise, a smooth ReLU.
type Softplus struct{ unaryOp }

func (Softplus) Name() string       { return "Softplus" }
func (Softplus) Autocast() Autocast { return CastFloat32 }
func (Softplus) onnx() string       { return "Softplus" }

// Formula returns max(x, 0) + ln(1 + e^-|x|), which does not overflow.
func (Softplus) Formula() Formula {
	rest := Apply(Log1p{}, Apply(Exp{}, Apply(Neg{}, Apply(Abs{}, X))))
	return Apply(Add{}, Apply(Maximum{}, X, Constant(0)), rest)
}

// Gradient returns dy·σ(x).
func (Softplus) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.Mul(dy, r.Record(Sigmoid{}, in[0]))}
}
