package kernels

import "github.com/quernlab/quern/accel/internal/engine/ir"

func init() {
	register(func(p Planner, op ir.Conv2D, s ir.Step) Launcher {
		return planConv(p, ConvForward, s, newConv2D(p, op, s, s.In[0], s.In[1], s.Out[0]))
	})
	register(func(p Planner, op ir.Conv2DInputGradient, s ir.Step) Launcher {
		return planConv(p, ConvInput, s, newConv2D(p, op.Conv2D, s, s.Out[0], s.In[1], s.In[0]))
	})
	register(func(p Planner, op ir.Conv2DWeightGradient, s ir.Step) Launcher {
		return planConv(p, ConvWeight, s, newConv2D(p, op.Conv2D, s, s.In[0], s.Out[0], s.In[1]))
	})
}

// convKernels are kernels for a convolution, or a gradient of it.
type convKernels interface {
	Workspace(ConvKind) int
	Launches(kind ConvKind, y, a, b, bias, work Pointer, relu bool) ([]Launch, error)
}

// newConv2D returns the kernels for a convolution of x to y, or a gradient of it, on tensor
// cores if they compute its types. Those of 16-bit floats have the channels last in memory, or are copied.
func newConv2D(p Planner, op ir.Conv2D, s ir.Step, images, weights, result ir.Operand) convKernels {
	x, w, y := images.Shape, weights.Shape, result.Shape
	o := Conv2D{DType: s.In[0].DType, N: x[0], C: x[1], H: x[2], W: x[3], O: y[1], OH: y[2], OW: y[3], KH: w[2], KW: w[3],
		Groups: op.Groups, Stride: op.Stride, Padding: op.Padding, Dilation: op.Dilation}
	if o.DType.Is16Bit() {
		last := Conv2DLast{Conv2D: o.withoutColumns(), Output16: s.Out[0].DType.Is16Bit()}
		if copiedToLast(images) || copiedToLast(weights) || copiedToLast(result) {
			return Conv2DRowMajor{last, x, w, y}
		}
		return last
	}
	o.TF32 = onTensorCores(p, o.DType)
	return o
}

// planConv launches the kernels with the bias and ReLU of the step; only ConvForward has them.
func planConv(p Planner, kind ConvKind, s ir.Step, o convKernels) Launcher {
	p.NeedWorkspace(o.Workspace(kind))
	return func(a Addresses) ([]Launch, error) {
		return o.Launches(kind, a.Out[0], a.In[0], a.In[1], a.Optional(2), a.Work, EndsWithReLU(s))
	}
}
