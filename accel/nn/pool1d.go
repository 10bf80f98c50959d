package nn

import (
	"github.com/quernlab/quern/accel/internal/layer"
	"github.com/quernlab/quern/accel/tensor"
)

// MaxPool1D returns a layer that computes the maximum of each window of sequences [N, C, T], such as
// the outputs of [Conv1D]. The window moves by its size unless [Stride] sets another stride.
func MaxPool1D(size int, options ...PoolOption) Module {
	return newPooling1D("MaxPool1D", tensor.MaxPool2D, size, options)
}

// AvgPool1D returns a layer that computes the mean of each window of sequences [N, C, T]. The window
// moves by its size unless [Stride] sets another stride.
func AvgPool1D(size int, options ...PoolOption) Module {
	return newPooling1D("AvgPool1D", tensor.AvgPool2D, size, options)
}

// GlobalAvgPool1D returns a layer that computes the mean of each channel: [N, C, T] becomes [N, C].
func GlobalAvgPool1D() Module {
	return &activation{"GlobalAvgPool1D", func(x *Tensor) *Tensor {
		requireChannels("GlobalAvgPool1D()", x)
		return x.Mean(2)
	}}
}

// pooling1D pools sequences as images of one row.
type pooling1D struct{ *pooling }

func newPooling1D(name string, function func(*Tensor, [2]int, tensor.Window) *Tensor, size int, options []PoolOption) pooling1D {
	p := newPooling(name, function, size, options)
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
