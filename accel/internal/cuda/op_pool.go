package cuda

import (
	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/ir"
)

func init() {
	register(maxPool)
	register(maxPoolGradient)
	register(avgPool)
	register(avgPoolGradient)
}

// windows describes pooling from the shape of x to that of y.
func windows(op ir.Pool, of, to ir.Operand) kernels.Pool {
	x, y := of.Shape, to.Shape
	return kernels.Pool{DType: of.DType, Planes: x[0] * x[1], H: x[2], W: x[3], OH: y[2], OW: y[3],
		Kernel: op.Kernel, Stride: op.Stride, Padding: op.Padding, Dilation: op.Dilation}
}

func maxPool(_ *program, op ir.MaxPool2D, s ir.Step) launcher {
	o := windows(op.Pool, s.In[0], s.Out[0])
	return func(a addresses) ([]kernels.Launch, error) { return o.Max(a.out[0], a.in[0]), nil }
}

func maxPoolGradient(_ *program, op ir.MaxPool2DGradient, s ir.Step) launcher {
	o := windows(op.Pool, s.In[0], s.In[1])
	return func(a addresses) ([]kernels.Launch, error) { return o.MaxGradient(a.out[0], a.in[0], a.in[2]), nil }
}

func avgPool(_ *program, op ir.AvgPool2D, s ir.Step) launcher {
	o := windows(op.Pool, s.In[0], s.Out[0])
	return func(a addresses) ([]kernels.Launch, error) { return o.Mean(a.out[0], a.in[0]), nil }
}

func avgPoolGradient(_ *program, op ir.AvgPool2DGradient, s ir.Step) launcher {
	o := windows(op.Pool, s.Out[0], s.In[0])
	return func(a addresses) ([]kernels.Launch, error) { return o.MeanGradient(a.out[0], a.in[0]), nil }
}
