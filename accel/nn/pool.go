package nn

import (
	"fmt"
	"strings"

	"github.com/quernlab/quern/accel/internal/layer"
	"github.com/quernlab/quern/accel/tensor"
)

// MaxPool2D returns a layer that computes the maximum of each square window of images [N, C, H,
// W]. The window moves by its size unless [Stride] sets another stride.
func MaxPool2D(size int, options ...PoolOption) Module {
	return newPooling("MaxPool2D", tensor.MaxPool2D, size, options)
}

// AvgPool2D returns a layer that computes the mean of each square window of images [N, C, H,
// W]. The window moves by its size unless [Stride] sets another stride.
func AvgPool2D(size int, options ...PoolOption) Module {
	return newPooling("AvgPool2D", tensor.AvgPool2D, size, options)
}

// GlobalAvgPool2D returns a layer that computes the mean of each channel: [N, C, H, W] becomes
// [N, C].
func GlobalAvgPool2D() Module { return &activation{"GlobalAvgPool2D", tensor.GlobalAvgPool2D} }

type pooling struct {
	name     string
	function func(x *Tensor, kernel [2]int, window tensor.Window) *Tensor
	size     int
	window   tensor.Window
	text     []string // of the arguments
}

func newPooling(name string, function func(*Tensor, [2]int, tensor.Window) *Tensor, size int, options []PoolOption) *pooling {
	p := &pooling{name: name, function: function, size: size, text: []string{fmt.Sprint(size)}}
	for _, o := range options {
		o.pool(p)
		p.text = append(p.text, o.String())
	}
	return p
}

func (p *pooling) Forward(x *Tensor) *Tensor {
	return p.function(x, [2]int{p.size, p.size}, p.window)
}

func (p *pooling) String() string     { return p.name + "(" + strings.Join(p.text, ", ") + ")" }
func (*pooling) retainsNothing() bool { return true }

func (p *pooling) Layer() any {
	if p.name == "MaxPool2D" {
		return layer.MaxPool{Size: p.size, Window: p.window}
	}
	return layer.Channelwise{}
}
