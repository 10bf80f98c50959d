package rt

import goruntime "github.com/quernlab/quern/interp/rt/internal/runtime"

// States of a range over a function in which the function must not call the loop body. A
// body that has left the loop sets a state above zero.
const (
	RangeRunning = -1 // the body is running, or has panicked
	RangeEnded   = -2
)

// RangeExited returns the panic value of a range over a function that calls the body in
// the given state.
func RangeExited(state int) any {
	switch state {
	case RangeRunning:
		return goruntime.ErrorString("range function continued iteration after loop body panic")
	case RangeEnded:
		return goruntime.ErrorString("range function continued iteration after whole loop exit")
	}
	return goruntime.ErrorString("range function continued iteration after function for loop body returned false")
}

// RangeSwallowed returns the panic value of a range over a function that has recovered a
// panic of the body.
func RangeSwallowed() any {
	return goruntime.ErrorString("range function recovered a loop body panic and did not resume panicking")
}
