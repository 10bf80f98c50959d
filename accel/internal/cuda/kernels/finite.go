package kernels

import "github.com/quernlab/quern/accel/internal/tensortype"

type finiteParams struct {
	Y, X, Fault Pointer
	N           uint64
}

var (
	finite = declare[finiteParams]("finite", "finite", reals, 256)
)

// Finite copies N elements of x to y and reports the first one that is NaN or infinite as a
// fault.
type Finite struct {
	DType tensortype.DType
	N     int
}

// Launches copies and checks; y may be x.
func (o Finite) Launches(y, x, fault Pointer) []Launch {
	if o.N == 0 {
		return nil
	}
	return []Launch{finite.launch(real(o.DType), linear(o.N), finiteParams{y, x, fault, uint64(o.N)})}
}
