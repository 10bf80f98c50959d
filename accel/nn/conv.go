package nn

import (
	"fmt"
	"strings"

	"github.com/quernlab/quern/accel/internal/layer"
	"github.com/quernlab/quern/accel/internal/substitute"
	"github.com/quernlab/quern/accel/tensor"
)

// Conv2DLayer is a two-dimensional convolution; [Conv2D] returns it. Weight and Bias are nil
// until the first input, which determines the number of input channels.
type Conv2DLayer struct {
	lazyState
	Weight *Tensor // [out, in/groups, kernel, kernel]
	Bias   *Tensor // [out], nil with NoBias

	*adapter // of LoRA; nil for none

	out, kernel int
	window      tensor.Window
	same        bool
	noBias      bool
	text        []string // the arguments as Go code
}

// Conv2DOption changes a [Conv2D] layer.
type Conv2DOption interface {
	fmt.Stringer
	conv(*Conv2DLayer)
}

// PoolOption changes a layer such as [MaxPool2D] or [AvgPool1D].
type PoolOption interface {
	fmt.Stringer
	pool(*pooling)
}

// WindowOption is an option of [Conv2D], [MaxPool2D] and [AvgPool2D].
type WindowOption struct {
	text string
	set  func(*tensor.Window)
}

// String returns the option as Go code.
func (o WindowOption) String() string      { return o.text }
func (o WindowOption) conv(c *Conv2DLayer) { o.set(&c.window) }
func (o WindowOption) pool(p *pooling)     { o.set(&p.window) }

// Stride sets by how many pixels the window moves. The default is 1 for Conv2D and the window
// size for pooling.
func Stride(n int) WindowOption {
	return WindowOption{fmt.Sprintf("Stride(%d)", n), func(w *tensor.Window) { w.Stride = [2]int{n, n} }}
}

// Padding adds n pixels on all four sides: zeros for Conv2D and AvgPool2D, pixels that are
// ignored for MaxPool2D.
func Padding(n int) WindowOption {
	return WindowOption{fmt.Sprintf("Padding(%d)", n), func(w *tensor.Window) { w.Padding = [2]int{n, n} }}
}

// ConvolutionOption is an option of [Conv2D] only.
type ConvolutionOption struct {
	text string
	set  func(*Conv2DLayer)
}

// String returns the option as Go code.
func (o ConvolutionOption) String() string      { return o.text }
func (o ConvolutionOption) conv(c *Conv2DLayer) { o.set(c) }

// Same pads the image so that with stride 1 the output has the size of the input, like
// padding="same" in Keras and PyTorch. The kernel size must be odd.
func Same() ConvolutionOption {
	return ConvolutionOption{"Same()", func(c *Conv2DLayer) { c.same = true }}
}

// Groups splits the channels into n groups that are convolved separately. With as many groups
// as channels it is a depthwise convolution.
func Groups(n int) ConvolutionOption {
	return ConvolutionOption{fmt.Sprintf("Groups(%d)", n), func(c *Conv2DLayer) { c.window.Groups = n }}
}

// Dilation puts n-1 pixels between neighboring elements of the kernel.
func Dilation(n int) ConvolutionOption {
	return ConvolutionOption{fmt.Sprintf("Dilation(%d)", n), func(c *Conv2DLayer) { c.window.Dilation = [2]int{n, n} }}
}

// Conv2D returns a two-dimensional convolution with out output channels and a square kernel;
// see [tensor.Conv2D]. The first input determines the number of input channels. Initial weights
// are those of [Dense], where the number of inputs is kernel² times the channels of a group.
func Conv2D(out, kernel int, options ...Conv2DOption) *Conv2DLayer {
	c := &Conv2DLayer{out: out, kernel: kernel, text: []string{fmt.Sprint(out), fmt.Sprint(kernel)}}
	for _, o := range options {
		o.conv(c)
		c.text = append(c.text, o.String())
	}
	if c.same {
		reach := max(c.window.Dilation[0], 1) * (kernel - 1)
		c.window.Padding = [2]int{reach / 2, reach / 2}
	}
	return c
}

// Forward maps images [N, C, H, W] to [N, out, H', W'].
func (c *Conv2DLayer) Forward(x *Tensor) *Tensor {
	if other := substitute.For(&c.Weight); other != nil {
		return other(x)
	}
	if c.Weight == nil {
		c.start(x.Shape())
	}
	if c.adapter == nil {
		return tensor.Conv2D(x, c.Weight, c.Bias, c.window)
	}
	var s scratch
	defer s.release()
	return s.keep(tensor.Conv2D(x, c.Weight, c.Bias, c.window)).Add(s.keep(c.adapter.convolve(&s, x, c.window)))
}

func (*Conv2DLayer) retainsNothing() bool { return true }

// Layer describes the layer to the packages that transform models (prune, quantize, onnx). A layer
// that [LoRA] adapts is none that they know.
func (c *Conv2DLayer) Layer() any {
	if c.adapter != nil {
		return nil
	}
	p := layer.MatMul{
		Names: [2]string{"weight", "bias"}, Weight: &c.Weight, Image: true, Window: c.window,
		SetOut: func(n int) { c.out, c.text[0] = n, fmt.Sprint(n) },
		SetGroups: func(n int) {
			for i, text := range c.text {
				if text == fmt.Sprintf("Groups(%d)", c.window.Groups) {
					c.text[i] = fmt.Sprintf("Groups(%d)", n)
				}
			}
			c.window.Groups = n
		},
	}
	if !c.noBias {
		p.Bias = &c.Bias
	}
	return p
}

// start creates the parameters for an input of this shape.
func (c *Conv2DLayer) start(shape []int) {
	groups := max(c.window.Groups, 1)
	wrong := func(hint string) {
		panic(&tensor.ShapeError{Op: "Conv2D", Shapes: [][]int{shape}, Hint: hint})
	}
	switch {
	case len(shape) != 4 || shape[1] < 1:
		wrong("the input must be images [N, C, H, W]")
	case c.out < 1 || c.kernel < 1:
		wrong(fmt.Sprintf("%v must have at least one output channel and a kernel size of at least 1", c))
	case c.same && max(c.window.Dilation[0], 1)*(c.kernel-1)%2 > 0:
		wrong("Same() needs an odd kernel size")
	case shape[1]%groups != 0 || c.out%groups != 0:
		wrong(fmt.Sprintf("%d input and %d output channels must both be multiples of the %d groups", shape[1], c.out, groups))
	}
	channels := shape[1] / groups
	inputs := channels * c.kernel * c.kernel
	c.Weight = uniform(inputs, !c.frozen, c.out, channels, c.kernel, c.kernel)
	if !c.noBias {
		c.Bias = uniform(inputs, !c.frozen, c.out)
	}
}

// String returns the layer as Go code.
func (c *Conv2DLayer) String() string { return "Conv2D(" + strings.Join(c.text, ", ") + ")" }
