package accel

import (
	"fmt"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// DType is the type of a tensor's elements.
type DType = tensor.DType

// The 16-bit floats of [AMP].
const (
	BF16 = tensor.BFloat16 // the range of float32 with 8 bits of precision
	FP16 = tensor.Float16  // 11 bits of precision, from 6e-8 to 65 504
)

// AMP trains with mixed precision: the layers that multiply matrices do so in
// 16-bit floats ([nn.Autocast]), all else and the parameters stay float32, and
// with FP16 the loss is scaled ([optim.Scaler]); a step whose gradients overflow
// is skipped, and the schedule waits.
//
// Without a type the device decides. The CPU has no 16-bit products and computes
// in float32; the run says so. With BF16 or FP16 the CPU rounds as a GPU would:
// what training comes to is the GPU's, the speed is not. Validation rounds too;
// after Fit the model computes in float32 again.
func AMP(dtype ...DType) Option {
	text := "AMP()"
	if len(dtype) > 0 {
		text = fmt.Sprintf("AMP(%s)", ampName(dtype[0]))
	}
	return Option{text, func(c *options) error {
		if len(dtype) > 1 || len(dtype) == 1 && !dtype[0].Half() {
			return fmt.Errorf("accel: %s: want nothing, BF16 or FP16", text)
		}
		c.amp = true
		if len(dtype) == 1 {
			c.ampType = dtype[0]
		}
		return nil
	}}
}

func ampName(d DType) string {
	switch d {
	case BF16:
		return "BF16"
	case FP16:
		return "FP16"
	}
	return d.String()
}

// beginAMP lets the model compute in the type that was asked for.
func (f *fitting) beginAMP() {
	switch {
	case !f.o.amp:
	case !f.o.ampType.Half():
		f.run.note("AMP: computed in float32, since the CPU has no 16-bit products")
	default:
		nn.Autocast(f.model, f.o.ampType)
		if f.o.ampType == FP16 {
			f.scaler = optim.NewScaler()
		}
	}
}

// endAMP says what was done and takes it back.
func (f *fitting) endAMP() {
	if !f.o.amp || !f.o.ampType.Half() {
		return
	}
	nn.Autocast(f.model, tensor.Float32)
	text := fmt.Sprintf("AMP: products rounded to %v as a GPU would; on the CPU that is slower than float32", f.o.ampType)
	if f.scaler != nil {
		text += "; " + f.scaler.String()
	}
	f.run.note("%s", text)
}

// leastScale is the loss scale at which a loss that is no number is believed:
// smaller ones than float16's smallest number make no difference.
const leastScale = 1. / (1 << 24)
