package rt

// NegativeShift returns what a shift by a negative count panics with.
func NegativeShift() any { return runtimeError("negative shift amount") }
