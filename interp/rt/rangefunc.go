package rt

// States of a range over a function in which its body must not be called. A body
// that broke off the loop leaves one above zero.
const (
	RangeRunning = -1 // the body is called already, or has panicked
	RangeEnded   = -2
)

// RangeExited returns what a range over a function in the given state panics with when
// the function calls the body.
func RangeExited(state int) any {
	switch state {
	case RangeRunning:
		return runtimeError("range function continued iteration after loop body panic")
	case RangeEnded:
		return runtimeError("range function continued iteration after whole loop exit")
	}
	return runtimeError("range function continued iteration after function for loop body returned false")
}

// RangeSwallowed returns what a range over a function panics with when the function has
// recovered a panic of the body.
func RangeSwallowed() any {
	return runtimeError("range function recovered a loop body panic and did not resume panicking")
}
