package accel

import (
	"fmt"

	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// Precision is a 16-bit float for [AMP].
type Precision uint8

// The 16-bit floats.
const (
	BF16 Precision = iota + 1 // the range of float32 with 8 bits of precision
	FP16                      // 11 bits of precision, from 6e-8 to 65 504
)

// String is the name of the constant.
func (p Precision) String() string {
	switch p {
	case BF16:
		return "BF16"
	case FP16:
		return "FP16"
	}
	return fmt.Sprintf("Precision(%d)", uint8(p))
}

func (p Precision) dtype() tensor.DType {
	if p == FP16 {
		return tensor.Float16
	}
	return tensor.BFloat16
}

// AMP trains with mixed precision: products of matrices are computed in 16-bit
// floats, and what needs them in float32, op by op as PyTorch's autocast chooses
// ([tensor.Autocast]), in layers and in a model's own mathematics alike. The
// parameters stay float32. With FP16 the loss is scaled ([optim.Scaler]); a step
// whose gradients overflow is skipped, and the schedule waits. The scale of each
// step is in Run.Steps, and [LossScale] draws it.
//
// Without a precision the device decides. The CPU has no 16-bit products and computes
// in float32; the run says so. With BF16 or FP16 the CPU rounds as a GPU would:
// what training comes to is the GPU's, the speed is not. Validation rounds too;
// after Fit the model computes in float32 again.
func AMP(precision ...Precision) Option {
	text := "AMP()"
	if len(precision) > 0 {
		text = fmt.Sprintf("AMP(%v)", precision[0])
	}
	return Option{text, func(c *options) error {
		c.amp, c.precision = true, 0
		switch {
		case len(precision) == 0:
			return nil
		case len(precision) == 1 && (precision[0] == BF16 || precision[0] == FP16):
			c.precision = precision[0]
			return nil
		}
		return fmt.Errorf("accel: %s: want nothing, BF16 or FP16", text)
	}}
}

// beginAMP says what the device cannot do, and makes the scaler of float16.
func (f *fitting) beginAMP() {
	switch {
	case !f.o.amp:
	case f.o.precision == 0:
		f.run.note("AMP: computed in float32, since the CPU has no 16-bit products")
	case f.o.precision == FP16:
		f.scaler = optim.NewScaler()
	}
}

// cast runs a part of the forward pass in the types of AMP.
func (o *options) cast(f func()) {
	if o.precision == 0 {
		f()
		return
	}
	tensor.Autocast(o.precision.dtype(), f)
}

// endAMP says what was done.
func (f *fitting) endAMP() {
	if f.o.precision == 0 {
		return
	}
	text := fmt.Sprintf("AMP: products rounded to %v as a GPU would; on the CPU that is slower than float32", f.o.precision.dtype())
	if f.scaler != nil {
		text += "; " + f.scaler.String()
	}
	f.run.note("%s", text)
}

// leastScale is the loss scale at which a loss that is no number is believed:
// smaller ones than float16's smallest number make no difference.
const leastScale = 1. / (1 << 24)
