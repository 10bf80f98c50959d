package loop

import (
	"fmt"

	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// precision is the element types in which a training computes.
type precision struct {
	float  Precision         // 0 for float32
	scaler *optim.GradScaler // scales the loss; nil unless gradients are float16
}

// newPrecision selects the types of the device, unless float names them, and creates the gradient scaler of float16.
func newPrecision(amp bool, float Precision, record *history.Recorder) *precision {
	p := &precision{float: float}
	if amp && float == 0 {
		if onCPU() {
			record.Note("AMP: computed in float32, since the CPU has no 16-bit matrix multiplication")
			return p
		}
		p.float = BF16
	}
	if p.float == FP16 {
		p.scaler = optim.NewGradScaler()
	}
	return p
}

func onCPU() bool { return tensors.Device() == "cpu" }

// supported returns an error if the device does not support the precision.
func (p *precision) supported() error {
	if p.float != FP8 {
		return nil
	}
	if err := tensor.CheckFP8(); err != nil {
		return fmt.Errorf("accel: AMP(FP8): %w", err)
	}
	return nil
}

// cast runs a part of the forward pass under autocast.
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

// requireFinite makes the step fail if its loss is NaN or infinite, unless the scaler skips
// such steps.
func (p *precision) requireFinite(loss *tensor.Tensor) *tensor.Tensor {
	if p.scaler != nil {
		return loss
	}
	required := loss.RequireFinite("loss")
	loss.Release()
	return required
}

// scale multiplies the loss, so that small gradients do not underflow in float16.
func (p *precision) scale(loss *tensor.Tensor) *tensor.Tensor {
	if p.scaler == nil {
		return loss
	}
	return p.scaler.Scale(loss)
}

// update changes the parameters. With a scaler it returns the loss scale and whether the step
// was made, as tensors that have not been read yet.
func (p *precision) update(optimizer *optim.Optimizer) (lossScale, made *tensor.Tensor) {
	if p.scaler == nil {
		optimizer.Step()
		return nil, nil
	}
	p.scaler.Step(optimizer)
	return p.scaler.LastStep()
}

// note adds to the run in which precision it was computed.
func (p *precision) note(r *history.Recorder) {
	text := map[Precision]string{
		BF16: "bfloat16", FP16: "float16",
		FP8: "8-bit floats in linear layers, to bfloat16 elsewhere",
	}[p.float]
	switch {
	case text == "":
		return
	case onCPU():
		text = fmt.Sprintf("AMP: matrix multiplications rounded to %s as on a GPU; on the CPU this is slower than float32", text)
	default:
		text = fmt.Sprintf("AMP: matrix multiplications rounded to %s", text)
	}
	if p.scaler != nil {
		text += "; " + p.scaler.String()
	}
	r.Note("%s", text)
}

// leastScale is the loss scale below which a non-finite loss is treated as divergence instead
// of overflow: a smaller scale would not change float16 results any more.
const leastScale = 1. / (1 << 24)

// Precision is a floating-point type for mixed precision.
type Precision uint8

// The precisions of mixed-precision training.
const (
	BF16 Precision = iota + 1 // the range of float32 with 8 bits of precision
	FP16                      // 11 bits of precision, from 6e-8 to 65 504
	FP8                       // 8-bit floats in linear layers, BF16 elsewhere: see [tensor.AutocastFP8]
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
