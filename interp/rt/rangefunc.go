package rt

// RangeExited is what a range over a function panics with when the function
// goes on calling the body after the loop was left.
func RangeExited() any {
	return runtimeError("range function continued iteration after function for loop body returned false")
}
