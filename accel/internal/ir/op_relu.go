package ir

// ReLU computes y = max(x, 0), elementwise; NaN stays NaN.
type ReLU struct{ unaryOp }

func (ReLU) Name() string     { return "ReLU" }
func (ReLU) Formula() Formula { return Apply(Maximum{}, X, Constant(0)) }
func (ReLU) onnx() string     { return "Relu" }

// Gradient returns dy where y > 0. It reads y and not x, so that x need not be kept when
// ReLU is fused into a matmul. The dy of a pool of y has already been masked by the pool's
// gradient.
func (ReLU) Gradient(r *Recorder, _ []*Value, out, dy *Value, _ []bool) []*Value {
	if _, ok := dy.op.(MaxPool2DGradient); ok && dy.in[0] == out {
		return []*Value{dy}
	}
	return []*Value{r.Record(ReLUGradient{}, dy, out)}
}

// ReLUGradient computes dx = dy where y > 0, else 0.
type ReLUGradient struct {
	binaryOp
	gradientOp
}

func (ReLUGradient) Name() string { return "ReLUGradient" }
