package ir

// Floor computes ⌊x⌋, elementwise. No gradient flows through it.
type Floor struct {
	unaryOp
	noGradient
}

// Name returns "Floor".
func (Floor) Name() string { return "Floor" }
