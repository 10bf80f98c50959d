package tensor

import "github.com/quernlab/quern/accel/internal/engine/ir"

// LaunchKernel runs a kernel on tensors, for package kernel, whose Launch programs call. written says which tensors it changes.
func LaunchKernel(k ir.Kernel, tensors []*Tensor, written []bool) (err error) {
	locked(func(r *ir.Recorder) {
		holders := make([]**ir.Value, len(tensors))
		for i, t := range tensors {
			t.holdValue("Launch")
			holders[i] = &t.v
		}
		err = r.LaunchKernel(k, holders, written)
	})
	return err
}
