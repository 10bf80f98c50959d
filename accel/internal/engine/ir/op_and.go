package ir

// And computes y = 1 where a and b are not 0, else 0, as float32, elementwise with
// broadcasting.
type And struct {
	maskOp
	noGradient
}

func (And) Name() string { return "And" }
