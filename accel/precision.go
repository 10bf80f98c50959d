package accel

import (
	"fmt"

	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// Precision is a short float for [AMP].
type Precision uint8

// The short floats.
const (
	BF16 Precision = iota + 1 // the range of float32 with 8 bits of precision
	FP16                      // 11 bits of precision, from 6e-8 to 65 504
	FP8                       // 8-bit floats in Linear layers, BF16 elsewhere: see [tensor.AutocastFP8]
)

// String returns the name of the constant.
func (p Precision) String() string {
	switch p {
	case BF16:
		return "BF16"
	case FP16:
		return "FP16"
	case FP8:
		return "FP8"
	}
	return fmt.Sprintf("Precision(%d)", uint8(p))
}

// AMP trains with mixed precision: products of matrices are computed in 16-bit
// floats, and what needs them in float32, op by op as PyTorch's autocast chooses
// ([tensor.Autocast]), in layers and in a model's own mathematics alike. The
// parameters stay float32. With FP16 the loss is scaled ([optim.GradScaler]); a step
// whose gradients overflow is skipped, and the schedule waits. That is decided on
// the device; the host hears of it a step later, and so does the schedule. The scale
// of each step is in Run.Steps, and [LossScale] draws it. With FP8 the matrix multiplications of linear
// layers are of 8-bit floats, where the number of features is a multiple of 16.
//
// Without a precision the device decides: a GPU computes in BF16. The CPU has no
// 16-bit products and computes in float32; the run says so. With a precision the
// CPU rounds as a GPU would: what training comes to is the GPU's, the speed is not.
// A GPU without FP8, of compute capability below 8.9, refuses it. Validation rounds
// too; after Fit the model computes in float32 again.
func AMP(precision ...Precision) Option {
	text := "AMP()"
	if len(precision) > 0 {
		text = fmt.Sprintf("AMP(%v)", precision[0])
	}
	return fitOption(text, func(c *options) error {
		c.amp, c.precision = true, 0
		switch {
		case len(precision) == 0:
			return nil
		case len(precision) == 1 && precision[0] >= BF16 && precision[0] <= FP8:
			c.precision = precision[0]
			return nil
		}
		return fmt.Errorf("accel: %s: want nothing, BF16, FP16 or FP8", text)
	})
}

// precision is in which types a training computes.
type precision struct {
	float  Precision         // 0 for float32
	scaler *optim.GradScaler // of the loss; nil unless gradients are float16
}

// newPrecision chooses what the device computes in, and makes the scaler of float16.
func newPrecision(o *options, run *Run) *precision {
	p := &precision{float: o.precision}
	if o.amp && p.float == 0 {
		if onCPU() {
			run.note("AMP: computed in float32, since the CPU has no 16-bit products")
			return p
		}
		p.float = BF16
	}
	if p.float == FP16 {
		p.scaler = optim.NewGradScaler()
	}
	return p
}

// trainsOnCPU reports whether the training that the options describe is on the CPU.
func (o *options) trainsOnCPU() bool { return o.device == "cpu" || o.device == "" && onCPU() }

func onCPU() bool { return tensor.Device() == "cpu" }

// supported returns why the device cannot compute with the precision, nil if it can.
func (p *precision) supported() error {
	if p.float != FP8 {
		return nil
	}
	if err := tensor.CheckFP8(); err != nil {
		return fmt.Errorf("accel: AMP(FP8): %w", err)
	}
	return nil
}

// cast runs a part of the forward pass in the types of AMP.
func (p *precision) cast(f func()) {
	switch p.float {
	case BF16:
		tensor.Autocast(tensor.BFloat16, f)
	case FP16:
		tensor.Autocast(tensor.Float16, f)
	case FP8:
		tensor.AutocastFP8(f)
	default:
		f()
	}
}

// requireFinite has the step fail whose loss is no number, unless the scaler skips such
// steps.
func (p *precision) requireFinite(loss *Tensor) *Tensor {
	if p.scaler != nil {
		return loss
	}
	required := loss.RequireFinite("loss")
	loss.Release()
	return required
}

// scale multiplies the loss, so that small gradients do not vanish in float16.
func (p *precision) scale(loss *Tensor) *Tensor {
	if p.scaler == nil {
		return loss
	}
	return p.scaler.Scale(loss)
}

// update changes the parameters. With a scaler it returns the scale of the loss and
// whether the step was made, as tensors that are not yet read.
func (p *precision) update(optimizer *optim.Optimizer) (lossScale, made *Tensor) {
	if p.scaler == nil {
		optimizer.Step()
		return nil, nil
	}
	p.scaler.Step(optimizer)
	return p.scaler.LastStep()
}

// note says in what the run was computed.
func (p *precision) note(r *Run) {
	text := map[Precision]string{
		BF16: "bfloat16", FP16: "float16",
		FP8: "8-bit floats in Linear layers, elsewhere to bfloat16",
	}[p.float]
	switch {
	case text == "":
		return
	case onCPU():
		text = fmt.Sprintf("AMP: products rounded to %s as a GPU would; on the CPU that is slower than float32", text)
	default:
		text = fmt.Sprintf("AMP: products rounded to %s", text)
	}
	if p.scaler != nil {
		text += "; " + p.scaler.String()
	}
	r.note("%s", text)
}

// leastScale is the loss scale at which a loss that is no number is believed:
// smaller ones than float16's smallest number make no difference.
const leastScale = 1. / (1 << 24)
