package kernels

import "github.com/quernlab/quern/accel/internal/tensortype"

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
