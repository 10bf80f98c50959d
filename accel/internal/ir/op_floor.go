package ir

// Floor computes ⌊x⌋, elementwise. No gradient flows through it.
type Floor struct {
	unaryOp
	noGradient
}

func (Floor) Name() string { return "Floor" }
func (Floor) onnx() string { return "Floor" }
