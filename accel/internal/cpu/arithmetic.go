package cpu

// Arithmetic is vectorized arithmetic of slices of the same length; d may be a or b. Each result is rounded as the Go expression is. The
// functions may be called from any goroutine, and need no device.
type Arithmetic struct {
	Add, Sub, Mul, Div func(d, a, b []float32)
}

// NewArithmetic returns the arithmetic for this CPU.
func NewArithmetic() Arithmetic {
	v := append(nativeVectors(), genericVectors)[0]
	return Arithmetic{v.add, v.sub, v.mul, v.div}
}
