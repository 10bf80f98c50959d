package accel

import "github.com/quernlab/quern/accel/tensor"

// AllowTF32 reports whether products of float32 tensors may use the tensor cores of a GPU,
// which round the factors to ten bits of mantissa: several times faster, with errors
// of about 1e-3. Off at first; the processor rounds nothing. [AMP] is faster still.
func AllowTF32(on bool) { tensor.AllowTF32(on) }
