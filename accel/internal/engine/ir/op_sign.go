package ir

// Sign computes y = 1 for x > 0, -1 for x < 0, and 0 for 0 and NaN, elementwise; torch's sign.
type Sign struct {
	unaryOp
	zeroGradient
}

func (Sign) Name() string { return "Sign" }

// Formula returns (x > 0) - (0 > x).
func (Sign) Formula() Formula {
	zero := Constant(0)
	return Apply(Sub{}, Apply(Greater{}, X, zero), Apply(Greater{}, zero, X))
}
