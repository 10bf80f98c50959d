package rt

import goruntime "github.com/quernlab/quern/interp/rt/internal/runtime"

// NegativeShift returns the panic value of a shift by a negative count.
func NegativeShift() any { return goruntime.ErrorString("negative shift amount") }
