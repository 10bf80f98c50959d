package accel

import "github.com/quernlab/quern/accel/tensor"

// AllowTF32 sets whether matrix multiplications of float32 tensors may use a GPU's TF32 tensor
// cores, which round their inputs to ten mantissa bits: several times faster, with relative
// errors of about 1e-3. It is off by default and has no effect on the CPU. [AMP] is faster
// still.
func AllowTF32(on bool) { tensor.AllowTF32(on) }
