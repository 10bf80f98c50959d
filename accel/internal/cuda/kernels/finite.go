package kernels

import "github.com/quernlab/quern/accel/internal/tensor"

type finiteParams struct {
	Y, X, Fault Pointer
	N           uint64
}

var (
	finite        = kernel[finiteParams]{"finite", "finite", reals, 256}
	finiteEntries = []Entry{finite.entry()}
)

// Finite is y = x for N elements. The first that is NaN or infinite is reported.
type Finite struct {
	DType tensor.DType
	N     int
}

// Launches copies and looks; y may be x.
func (o Finite) Launches(y, x, fault Pointer) []Launch {
	if o.N == 0 {
		return nil
	}
	return []Launch{finite.launch(real(o.DType), linear(o.N), finiteParams{y, x, fault, uint64(o.N)})}
}
