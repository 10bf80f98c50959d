package nn

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/tensor"
)

// MaxPool2D returns a layer that computes the maximum of each square window of images [N, C, H,
// W]. The window moves by its size unless [Stride] sets another stride. Options are Stride and
// [Padding].
func MaxPool2D(size int, given ...Option) Module {
	return newPooling("MaxPool2D", tensor.MaxPool2D, size, given)
}

// AvgPool2D returns a layer that computes the mean of each square window of images [N, C, H,
// W], with the options of [MaxPool2D].
func AvgPool2D(size int, given ...Option) Module {
	return newPooling("AvgPool2D", tensor.AvgPool2D, size, given)
}

// MaxPool1D returns a layer that computes the maximum of each window of sequences [N, C, T], such as
// the outputs of [Conv1D], with the options of [MaxPool2D].
func MaxPool1D(size int, given ...Option) Module {
	return newPooling1D("MaxPool1D", tensor.MaxPool2D, size, given)
}

// AvgPool1D returns a layer that computes the mean of each window of sequences [N, C, T], with the
// options of [MaxPool2D].
func AvgPool1D(size int, given ...Option) Module {
	return newPooling1D("AvgPool1D", tensor.AvgPool2D, size, given)
}

// GlobalAvgPool2D returns a layer that computes the mean of each channel: [N, C, H, W] becomes
// [N, C].
func GlobalAvgPool2D() Module { return &activation{"GlobalAvgPool2D", tensor.GlobalAvgPool2D} }

// GlobalAvgPool1D returns a layer that computes the mean of each channel: [N, C, T] becomes [N, C].
func GlobalAvgPool1D() Module {
	return &activation{"GlobalAvgPool1D", func(x *Tensor) *Tensor {
		requireChannels("GlobalAvgPool1D()", x)
		return x.Mean(2)
	}}
}

type poolFunc = func(x *Tensor, kernel [2]int, window tensor.Window) *Tensor

type pooling struct {
	options
	name     string
	function poolFunc
	size     int
}

func newPooling(name string, function poolFunc, size int, given []Option) *pooling {
	return &pooling{name: name, function: function, size: size, options: options{}.read(name, given, "Stride", "Padding")}
}

func (p *pooling) Forward(x *Tensor) *Tensor {
	return p.function(x, [2]int{p.size, p.size}, p.window)
}

func (p *pooling) String() string     { return p.call(p.name, p.size) }
func (*pooling) retainsNothing() bool { return true }

func (p *pooling) Layer() any {
	if p.name == "MaxPool2D" {
		return layer.MaxPool{Size: p.size, Window: p.window}
	}
	return layer.Channelwise{}
}

// pooling1D pools sequences as images of one row.
type pooling1D struct{ *pooling }

func newPooling1D(name string, function poolFunc, size int, given []Option) pooling1D {
	p := newPooling(name, function, size, given)
	p.window.Stride[0], p.window.Padding[0] = 1, 0
	if p.window.Stride[1] == 0 {
		p.window.Stride[1] = size
	}
	return pooling1D{p}
}

func (p pooling1D) Forward(x *Tensor) *Tensor {
	requireChannels(p.String(), x)
	n, c, t := x.Size(0), x.Size(1), x.Size(2)
	var s scratch
	defer s.release()
	y := s.keep(p.function(s.keep(x.Reshape(n, c, 1, t)), [2]int{1, p.size}, p.window))
	return y.Reshape(n, c, y.Size(3))
}

func (pooling1D) Layer() any { return layer.Channelwise{} }

// requireChannels panics unless x is [N, C, T].
func requireChannels(layer string, x *Tensor) {
	if shape := x.Shape(); len(shape) != 3 {
		panic(&tensor.ShapeError{Op: layer, Shapes: [][]int{shape}, Hint: "the input must be sequences [N, C, T] with the channels before the positions"})
	}
}

// AdaptiveAvgPool2D returns a layer that computes the mean of windows of images [N, C, H, W], so that
// the result is [N, C, height, width] for images of any size. Window i of n along an axis of size s
// has the elements from ⌊i·s/n⌋ to ⌈(i+1)·s/n⌉, as in PyTorch: windows have different sizes, and
// overlap, unless n divides s. [GlobalAvgPool2D] returns [N, C] instead of AdaptiveAvgPool2D(1, 1)'s
// [N, C, 1, 1].
func AdaptiveAvgPool2D(height, width int) Module { return &adaptivePool{height, width} }

type adaptivePool struct{ height, width int }

func (p *adaptivePool) Forward(x *Tensor) *Tensor {
	shape := x.Shape()
	if len(shape) != 4 || shape[2] < 1 || shape[3] < 1 || p.height < 1 || p.width < 1 {
		panic(&tensor.ShapeError{Op: p.String(), Shapes: [][]int{shape}, Hint: "the input must be images [N, C, H, W], and the height and width of the result at least 1"})
	}
	if shape[2]%p.height == 0 && shape[3]%p.width == 0 {
		return tensor.AvgPool2D(x, [2]int{shape[2] / p.height, shape[3] / p.width}, tensor.Window{})
	}
	var s scratch
	defer s.release()
	return meanOfWindows(&s, s.keep(meanOfWindows(&s, x, 2, p.height)), 3, p.width)
}

// meanOfWindows replaces an axis of size s by the means of n windows. The mean of a rectangle is that of
// the means of its rows.
func meanOfWindows(s *scratch, x *Tensor, axis, n int) *Tensor {
	size := x.Size(axis)
	means := make([]*Tensor, n)
	for i := range means {
		first, end := i*size/n, ((i+1)*size+n-1)/n
		means[i] = s.keep(s.keep(x.Slice(axis, first, end)).Mean(axis))
	}
	return tensor.Stack(axis, means...)
}

func (p *adaptivePool) String() string {
	return fmt.Sprintf("AdaptiveAvgPool2D(%d, %d)", p.height, p.width)
}
func (*adaptivePool) retainsNothing() bool { return true }
func (*adaptivePool) Layer() any           { return layer.Channelwise{} }

// PixelShuffle returns a layer that moves channels to pixels, for upscaling (Shi et al., 2016): [N,
// C·scale², H, W] becomes [N, C, scale·H, scale·W], in PyTorch's order.
func PixelShuffle(scale int) Module { return &pixelShuffle{scale} }

type pixelShuffle struct{ scale int }

func (p *pixelShuffle) Forward(x *Tensor) *Tensor {
	shape, r := x.Shape(), p.scale
	if len(shape) != 4 || r < 1 || r > 1<<15 || shape[1]%(r*r) != 0 {
		panic(&tensor.ShapeError{Op: p.String(), Shapes: [][]int{shape}, Hint: "the input must be images [N, C, H, W] whose number of channels is a multiple of the square of the scale"})
	}
	n, c, height, width := shape[0], shape[1]/(r*r), shape[2], shape[3]
	var s scratch
	defer s.release()
	blocks := s.keep(x.Reshape(n, c, r, r, height, width))
	return s.keep(blocks.Permute(0, 1, 4, 2, 5, 3)).Reshape(n, c, height*r, width*r)
}

func (p *pixelShuffle) String() string     { return fmt.Sprintf("PixelShuffle(%d)", p.scale) }
func (*pixelShuffle) retainsNothing() bool { return true }
