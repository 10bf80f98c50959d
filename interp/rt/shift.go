package rt

// NegativeShift returns the panic value of a shift by a negative count.
func NegativeShift() any { return runtimeError("negative shift amount") }
