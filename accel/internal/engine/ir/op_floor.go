package ir

// Floor computes ⌊x⌋, elementwise.
type Floor struct {
	unaryOp
	zeroGradient
}

func (Floor) Name() string { return "Floor" }
func (Floor) onnx() string { return "Floor" }
