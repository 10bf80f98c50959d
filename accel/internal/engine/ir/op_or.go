package ir

// Or computes y = 1 where a or b is not 0, else 0, as float32, elementwise with
// broadcasting.
type Or struct {
	maskOp
	noGradient
}

func (Or) Name() string { return "Or" }
