package tensor

import "github.com/quernlab/quern/accel/internal/ir"

// rounder is a device that can multiply float32 numbers rounded to TF32.
type rounder interface{ SetTF32(on bool) }

// TF32 says, and tells what was said before, whether products of float32 tensors (MatMul, Linear, Conv2D and their
// gradients) may use the tensor cores of a GPU, which round the factors to ten bits
// of mantissa and add up in float32: several times faster, with errors of about
// 1e-3. Attention stays as it is. Off at first. The processor rounds nothing,
// whatever this says. It is torch.backends.cuda.matmul.allow_tf32 and that of cudnn
// in one.
func TF32(on bool) (before bool) {
	e := shared()
	e.enter()
	defer e.leave()
	e.recorder.Flush() // what was recorded before is not meant
	before, e.tf32 = e.tf32, on
	for _, d := range e.devices {
		e.round(d)
	}
	e.round(e.recorder.Device())
	e.recorder.Switch(e.recorder.Device()) // plans are made again
	return before
}

// round tells a device what TF32 has said.
func (e *engine) round(d ir.Device) {
	if r, ok := d.(rounder); ok {
		r.SetTF32(e.tf32)
	}
}
