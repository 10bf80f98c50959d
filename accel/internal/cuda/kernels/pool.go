package kernels

import (
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

type window struct {
	H, W, OH, OW, Channels            uint32
	Kernel, Stride, Padding, Dilation [2]int32
}

type poolParams struct {
	Y, X         Pointer
	Planes       uint64
	Window       window
	YKind, XKind uint32
}

type maxPoolGradientParams struct {
	DX, X, DY             Pointer
	Planes                uint64
	Window                window
	DXKind, XKind, DYKind uint32
}

var (
	maxPool         = declare[poolParams]("pool", "maxpool", reals, 256)
	maxPoolGradient = declare[maxPoolGradientParams]("pool", "maxpool_gradient", reals, 256)
	avgPool         = declare[poolParams]("pool", "avgpool", reals, 256)
	avgPoolGradient = declare[poolParams]("pool", "avgpool_gradient", reals, 256)
)

// Pool pools windows of Planes planes of H×W pixels with Channels channels each to planes of OH×OW. Pairs are
// height and width.
type Pool struct {
	DType                             tensortype.DType // of the computation
	Planes, H, W, OH, OW, Channels    int
	Kernel, Stride, Padding, Dilation [2]int
	X, DY, Y                          tensortype.DType // of x, dy, and y or dx: DType, or 16-bit floats if that is float32
}

func (o Pool) window() window {
	w := window{H: uint32(o.H), W: uint32(o.W), OH: uint32(o.OH), OW: uint32(o.OW), Channels: uint32(o.Channels)}
	for i := range 2 {
		w.Kernel[i], w.Stride[i], w.Padding[i], w.Dilation[i] = int32(o.Kernel[i]), int32(o.Stride[i]), int32(o.Padding[i]), int32(o.Dilation[i])
	}
	return w
}

func (o Pool) launch(k kernel[poolParams], y, x Pointer, plane int, from tensortype.DType) []Launch {
	if o.Planes*o.Channels*plane == 0 {
		return nil
	}
	return []Launch{k.launch(real(o.DType), linear(o.Planes*o.Channels*plane), poolParams{y, x, uint64(o.Planes), o.window(), kind(o.Y), kind(from)})}
}

// Max computes the largest element of each window.
func (o Pool) Max(y, x Pointer) []Launch { return o.launch(maxPool, y, x, o.OH*o.OW, o.X) }

// Mean computes the mean of each window, padding counted as zeros.
func (o Pool) Mean(y, x Pointer) []Launch { return o.launch(avgPool, y, x, o.OH*o.OW, o.X) }

// MeanGradient computes dx of Mean from dy.
func (o Pool) MeanGradient(dx, dy Pointer) []Launch {
	return o.launch(avgPoolGradient, dx, dy, o.H*o.W, o.DY)
}

// MaxGradient computes dx of Max from x and dy.
func (o Pool) MaxGradient(dx, x, dy Pointer) []Launch {
	if o.Planes*o.Channels*o.H*o.W == 0 {
		return nil
	}
	return []Launch{maxPoolGradient.launch(real(o.DType), linear(o.Planes*o.Channels*o.H*o.W), maxPoolGradientParams{dx, x, dy, uint64(o.Planes), o.window(), kind(o.Y), kind(o.X), kind(o.DY)})}
}

func init() {
	register(planMaxPool)
	register(planMaxPoolGradient)
	register(planAvgPool)
	register(planAvgPoolGradient)
}

// windows describes pooling from the shape of x to that of y. A step reads x first or not at all,
// and dy last.
func windows(op ir.Pool, s ir.Step, x, y []int) Pool {
	planes, channels := x[0]*x[1], 1
	if s.In[0].ChannelsLast() || s.Out[0].ChannelsLast() { // one pixel is in either order
		planes, channels = x[0], x[1]
	}
	return Pool{DType: computes(s.In[0].DType), Planes: planes, H: x[2], W: x[3], OH: y[2], OW: y[3], Channels: channels,
		Kernel: op.Kernel, Stride: op.Stride, Padding: op.Padding, Dilation: op.Dilation,
		X: s.In[0].DType, DY: s.In[len(s.In)-1].DType, Y: s.Out[0].DType}
}

func planMaxPool(_ Planner, op ir.MaxPool2D, s ir.Step) Launcher {
	o := windows(op.Pool, s, s.In[0].Shape, s.Out[0].Shape)
	return func(a Addresses) ([]Launch, error) { return o.Max(a.Out[0], a.In[0]), nil }
}

func planMaxPoolGradient(_ Planner, op ir.MaxPool2DGradient, s ir.Step) Launcher {
	o := windows(op.Pool, s, s.In[0].Shape, s.In[1].Shape)
	return func(a Addresses) ([]Launch, error) { return o.MaxGradient(a.Out[0], a.In[0], a.In[2]), nil }
}

func planAvgPool(_ Planner, op ir.AvgPool2D, s ir.Step) Launcher {
	o := windows(op.Pool, s, s.In[0].Shape, s.Out[0].Shape)
	return func(a Addresses) ([]Launch, error) { return o.Mean(a.Out[0], a.In[0]), nil }
}

func planAvgPoolGradient(_ Planner, op ir.AvgPool2DGradient, s ir.Step) Launcher {
	o := windows(op.Pool, s, s.Out[0].Shape, s.In[0].Shape)
	return func(a Addresses) ([]Launch, error) { return o.MeanGradient(a.Out[0], a.In[0]), nil }
}
