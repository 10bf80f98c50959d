package ir

// Ceil computes ⌈x⌉, elementwise.
type Ceil struct {
	unaryOp
	zeroGradient
}

func (Ceil) Name() string     { return "Ceil" }
func (Ceil) onnx() string     { return "Ceil" }
func (Ceil) Formula() Formula { return Apply(Neg{}, Apply(Floor{}, Apply(Neg{}, X))) }
