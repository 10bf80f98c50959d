package tensor

import "github.com/quernlab/quern/accel/internal/engine/ir"

// tf32Setter is implemented by devices that support TF32.
type tf32Setter interface{ SetTF32(on bool) }

// allowTF32 sets whether matrix multiplications and convolutions of float32 tensors (MatMul, Linear,
// Conv2D and their gradients) may use the tensor cores of a GPU in TF32, and returns the previous setting.
func allowTF32(on bool) (before bool) {
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

// isTF32 reports whether TF32 is allowed.
func isTF32() (on bool) {
	locked(func(*ir.Recorder) { on = shared().tf32 })
	return on
}

// applyTF32 passes whether TF32 is allowed to a device.
func (e *engine) applyTF32(d ir.Device) {
	if r, ok := d.(tf32Setter); ok {
		r.SetTF32(e.tf32)
	}
}
