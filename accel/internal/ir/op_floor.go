package ir

// Floor is the largest whole number that is not above x, elementwise. No
// gradient flows through it.
type Floor struct {
	unaryOp
	noGradient
}

// Name is Floor.
func (Floor) Name() string { return "Floor" }
