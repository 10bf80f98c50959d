package kernels

import (
	"github.com/quernlab/quern/accel/internal/ir"
	"github.com/quernlab/quern/accel/internal/tensortype"
)

type window struct {
	H, W, OH, OW                      uint32
	Kernel, Stride, Padding, Dilation [2]int32
}

type poolParams struct {
	Y, X   Pointer
	Planes uint64
	Window window
}

type maxPoolGradientParams struct {
	DX, X, DY Pointer
	Planes    uint64
	Window    window
}

var (
	maxPool         = declare[poolParams]("pool", "maxpool", reals, 256)
	maxPoolGradient = declare[maxPoolGradientParams]("pool", "maxpool_gradient", reals, 256)
	avgPool         = declare[poolParams]("pool", "avgpool", reals, 256)
	avgPoolGradient = declare[poolParams]("pool", "avgpool_gradient", reals, 256)
)

// Pool pools windows of Planes planes of H×W to planes of OH×OW. Pairs are height and
// width.
type Pool struct {
	DType                             tensortype.DType
	Planes, H, W, OH, OW              int
	Kernel, Stride, Padding, Dilation [2]int
}

func (o Pool) window() window {
	w := window{H: uint32(o.H), W: uint32(o.W), OH: uint32(o.OH), OW: uint32(o.OW)}
	for i := range 2 {
		w.Kernel[i], w.Stride[i], w.Padding[i], w.Dilation[i] = int32(o.Kernel[i]), int32(o.Stride[i]), int32(o.Padding[i]), int32(o.Dilation[i])
	}
	return w
}

func (o Pool) launch(k kernel[poolParams], y, x Pointer, plane int) []Launch {
	if o.Planes*plane == 0 {
		return nil
	}
	return []Launch{k.launch(real(o.DType), linear(o.Planes*plane), poolParams{y, x, uint64(o.Planes), o.window()})}
}

// Max computes the largest element of each window.
func (o Pool) Max(y, x Pointer) []Launch { return o.launch(maxPool, y, x, o.OH*o.OW) }

// Mean computes the mean of each window, padding counted as zeros.
func (o Pool) Mean(y, x Pointer) []Launch { return o.launch(avgPool, y, x, o.OH*o.OW) }

// MeanGradient computes dx of Mean from dy.
func (o Pool) MeanGradient(dx, dy Pointer) []Launch {
	return o.launch(avgPoolGradient, dx, dy, o.H*o.W)
}

// MaxGradient computes dx of Max from x and dy.
func (o Pool) MaxGradient(dx, x, dy Pointer) []Launch {
	if o.Planes*o.H*o.W == 0 {
		return nil
	}
	return []Launch{maxPoolGradient.launch(real(o.DType), linear(o.Planes*o.H*o.W), maxPoolGradientParams{dx, x, dy, uint64(o.Planes), o.window()})}
}

func init() {
	register(planMaxPool)
	register(planMaxPoolGradient)
	register(planAvgPool)
	register(planAvgPoolGradient)
}

// windows describes pooling from the shape of x to that of y.
func windows(op ir.Pool, of, to ir.Operand) Pool {
	x, y := of.Shape, to.Shape
	return Pool{DType: of.DType, Planes: x[0] * x[1], H: x[2], W: x[3], OH: y[2], OW: y[3],
		Kernel: op.Kernel, Stride: op.Stride, Padding: op.Padding, Dilation: op.Dilation}
}

func planMaxPool(_ Planner, op ir.MaxPool2D, s ir.Step) Launcher {
	o := windows(op.Pool, s.In[0], s.Out[0])
	return func(a Addresses) ([]Launch, error) { return o.Max(a.Out[0], a.In[0]), nil }
}

func planMaxPoolGradient(_ Planner, op ir.MaxPool2DGradient, s ir.Step) Launcher {
	o := windows(op.Pool, s.In[0], s.In[1])
	return func(a Addresses) ([]Launch, error) { return o.MaxGradient(a.Out[0], a.In[0], a.In[2]), nil }
}

func planAvgPool(_ Planner, op ir.AvgPool2D, s ir.Step) Launcher {
	o := windows(op.Pool, s.In[0], s.Out[0])
	return func(a Addresses) ([]Launch, error) { return o.Mean(a.Out[0], a.In[0]), nil }
}

func planAvgPoolGradient(_ Planner, op ir.AvgPool2DGradient, s ir.Step) Launcher {
	o := windows(op.Pool, s.Out[0], s.In[0])
	return func(a Addresses) ([]Launch, error) { return o.MeanGradient(a.Out[0], a.In[0]), nil }
}
