package cuda

import (
	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/ir"
)

func init() {
	register(conv2D)
	register(conv2DInput)
	register(conv2DWeight)
}

// convKernels is a convolution of package kernels, on tensor cores or not.
type convKernels interface {
	Workspace() int
	InputWorkspace() int
	WeightWorkspace() int
	Launches(y, x, w, bias, work kernels.Pointer, relu bool) ([]kernels.Launch, error)
	InputGradient(dx, dy, w, work kernels.Pointer) ([]kernels.Launch, error)
	WeightGradient(dw, x, dy, work kernels.Pointer) ([]kernels.Launch, error)
}

// convolution returns the kernels for the types of the inputs and the result.
func (d *Device) convolution(op ir.Conv2D, factor, result ir.DType, x, w, y []int) convKernels {
	o := kernels.Conv2D{DType: factor, N: x[0], C: x[1], H: x[2], W: x[3], O: y[1], OH: y[2], OW: y[3], KH: w[2], KW: w[3],
		Groups: op.Groups, Stride: op.Stride, Padding: op.Padding, Dilation: op.Dilation}
	if d.onTensorCores(factor) {
		return kernels.TensorConv2D{Conv2D: o, Output16: result.Is16Bit()}
	}
	return o
}

func conv2D(p *program, op ir.Conv2D, s ir.Step) launcher {
	x, w, y := s.In[0], s.In[1], s.Out[0]
	o := p.device.convolution(op, x.DType, y.DType, x.Shape, w.Shape, y.Shape)
	p.needWorkspace(o.Workspace())
	return func(a addresses) ([]kernels.Launch, error) {
		return o.Launches(a.out[0], a.in[0], a.in[1], a.optional(2), a.work, endsWithReLU(s))
	}
}

func conv2DInput(p *program, op ir.Conv2DInputGradient, s ir.Step) launcher {
	dy, w, dx := s.In[0], s.In[1], s.Out[0]
	o := p.device.convolution(op.Conv2D, dy.DType, dx.DType, dx.Shape, w.Shape, dy.Shape)
	p.needWorkspace(o.InputWorkspace())
	return func(a addresses) ([]kernels.Launch, error) {
		return o.InputGradient(a.out[0], a.in[0], a.in[1], a.work)
	}
}

func conv2DWeight(p *program, op ir.Conv2DWeightGradient, s ir.Step) launcher {
	x, dy, dw := s.In[0], s.In[1], s.Out[0]
	o := p.device.convolution(op.Conv2D, x.DType, dw.DType, x.Shape, dw.Shape, dy.Shape)
	p.needWorkspace(o.WeightWorkspace())
	return func(a addresses) ([]kernels.Launch, error) {
		return o.WeightGradient(a.out[0], a.in[0], a.in[1], a.work)
	}
}
