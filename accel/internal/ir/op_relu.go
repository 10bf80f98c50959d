package ir

// ReLU is y = max(x, 0), elementwise; NaN stays NaN.
type ReLU struct{ unaryOp }

// Name is ReLU.
func (ReLU) Name() string { return "ReLU" }

// Gradient of ReLU is dy where y > 0. It reads y and not x, so that x need not
// be kept when ReLU is fused into a matrix product. That of a pool of y has been
// through it already.
func (ReLU) Gradient(r *Recorder, _ []*Value, out, dy *Value, _ []bool) []*Value {
	if _, ok := dy.op.(MaxPool2DGradient); ok && dy.in[0] == out {
		return []*Value{dy}
	}
	return []*Value{r.Record(ReLUGradient{}, dy, out)}
}

// ReLUGradient is dx = dy where y > 0, else 0.
type ReLUGradient struct {
	binaryOp
	noGradient
}

// Name is ReLUGradient.
func (ReLUGradient) Name() string { return "ReLUGradient" }
