package tensor

import "github.com/quernlab/quern/accel/internal/ir"

// tf32Setter is implemented by devices that support TF32.
type tf32Setter interface{ SetTF32(on bool) }

// AllowTF32 sets whether matrix multiplications and convolutions of float32 tensors (MatMul, Linear,
// Conv2D and their gradients) may use the tensor cores of a GPU in TF32, and returns the previous
// setting. TF32 rounds the factors to a 10-bit mantissa and accumulates in float32: several times
// faster, with relative errors of about 1e-3. The default is false. It has no effect on Attention
// or on the CPU. It combines torch.backends.cuda.matmul.allow_tf32 and
// torch.backends.cudnn.allow_tf32.
func AllowTF32(on bool) (before bool) {
	e := shared()
	e.enter()
	defer e.leave()
	e.recorder.Flush() // ops recorded before keep the old setting
	before, e.tf32 = e.tf32, on
	for _, d := range e.devices {
		e.applyTF32(d)
	}
	e.applyTF32(e.recorder.Device())
	e.recorder.Switch(e.recorder.Device()) // discards the cached plans
	return before
}

// TF32 reports whether AllowTF32 is on.
func TF32() (on bool) {
	locked(func(*ir.Recorder) { on = shared().tf32 })
	return on
}

// applyTF32 passes the setting of AllowTF32 to a device.
func (e *engine) applyTF32(d ir.Device) {
	if r, ok := d.(tf32Setter); ok {
		r.SetTF32(e.tf32)
	}
}
