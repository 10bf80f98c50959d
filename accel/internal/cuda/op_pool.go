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
func windows(op ir.Pool, d ir.DType, x, y []int) kernels.Pool {
	return kernels.Pool{DType: d, Planes: x[0] * x[1], H: x[2], W: x[3], OH: y[2], OW: y[3],
		Kernel: op.Kernel, Stride: op.Stride, Padding: op.Padding, Dilation: op.Dilation}
}

func maxPool(_ *program, op ir.MaxPool2D, s ir.Step) launcher {
	x, y := s.In[0], s.Out[0]
	o := windows(op.Pool, y.DType, x.Shape, y.Shape)
	return func(p *program) ([]kernels.Launch, error) { return o.Max(p.address(y), p.address(x)), nil }
}

func maxPoolGradient(_ *program, op ir.MaxPool2DGradient, s ir.Step) launcher {
	x, y, dy, dx := s.In[0], s.In[1], s.In[2], s.Out[0]
	o := windows(op.Pool, dx.DType, x.Shape, y.Shape)
	return func(p *program) ([]kernels.Launch, error) {
		return o.MaxGradient(p.address(dx), p.address(x), p.address(dy)), nil
	}
}

func avgPool(_ *program, op ir.AvgPool2D, s ir.Step) launcher {
	x, y := s.In[0], s.Out[0]
	o := windows(op.Pool, y.DType, x.Shape, y.Shape)
	return func(p *program) ([]kernels.Launch, error) { return o.Mean(p.address(y), p.address(x)), nil }
}

func avgPoolGradient(_ *program, op ir.AvgPool2DGradient, s ir.Step) launcher {
	dy, dx := s.In[0], s.Out[0]
	o := windows(op.Pool, dx.DType, dx.Shape, dy.Shape)
	return func(p *program) ([]kernels.Launch, error) {
		return o.MeanGradient(p.address(dx), p.address(dy)), nil
	}
}
