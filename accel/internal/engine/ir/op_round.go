package ir

// Round computes the integer nearest to x, elementwise; of two equally near ones the even one, as torch's
// round and math.RoundToEven.
type Round struct {
	unaryOp
	zeroGradient
}

func (Round) Name() string { return "Round" }
func (Round) onnx() string { return "Round" }
