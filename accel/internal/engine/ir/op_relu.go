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
	if maskedByPool(dy, out) {
		return []*Value{dy}
	}
	return []*Value{r.Record(ReLUGradient{}, dy, out)}
}

// maskedByPool reports whether dy is that of a pool of the ReLU y, maybe rounded, that was masked.
func maskedByPool(dy, y *Value) bool {
	for {
		switch op := dy.op.(type) {
		case Cast:
			if !dy.in[0].dtype.IsFloat() || op.To == Float64 {
				return false
			}
			dy = dy.in[0]
			continue
		case MaxPool2DGradient:
			mask := dy.in[2]
			_, masked := mask.op.(ReLUGradient)
			return masked && mask.in[1] == dy.in[1] && reluOf(dy.in[0]) == y
		}
		return false
	}
}

// reluOf returns the ReLU that v is: v itself, or what v was cast from if that changed no element,
// since ReLU's input was of the 16 bits in between. It returns nil for others.
func reluOf(v *Value) *Value {
	if isReLU(v.op) {
		return v
	}
	wide, ok := v.op.(Cast)
	if !ok || wide.To != Float32 {
		return nil
	}
	short, ok := v.in[0].op.(Cast)
	if !ok || !short.To.Is16Bit() {
		return nil
	}
	y := v.in[0].in[0]
	if !isReLU(y.op) || y.dtype != Float32 {
		return nil
	}
	if from, ok := y.in[0].op.(Cast); !ok || from.To != Float32 || y.in[0].in[0].dtype != short.To {
		return nil
	}
	return y
}

// ReLUGradient computes dx = dy where y > 0, else 0.
type ReLUGradient struct {
	binaryOp
	gradientOp
}

func (ReLUGradient) Name() string { return "ReLUGradient" }
