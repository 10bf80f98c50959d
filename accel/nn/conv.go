package nn

import (
	"fmt"
	"strings"

	"github.com/quernlab/quern/accel/internal/layer"
	"github.com/quernlab/quern/accel/internal/substitute"
	"github.com/quernlab/quern/accel/tensor"
)

// Conv2DLayer is a layer of small windows that move over images; [Conv2D] makes
// it. Weight and Bias are nil until the first input has told the number of
// channels.
type Conv2DLayer struct {
	untouched
	Weight *Tensor // [out, in/groups, kernel, kernel]
	Bias   *Tensor // [out], nil with NoBias

	out, kernel int
	window      tensor.Window
	same        bool
	noBias      bool
	text        []string // of the options
}

// Conv2DOption changes a [Conv2D] layer.
type Conv2DOption interface {
	fmt.Stringer
	conv(*Conv2DLayer)
}

// PoolOption changes a [MaxPool2D] or [AvgPool2D] layer.
type PoolOption interface {
	fmt.Stringer
	pool(*pooling)
}

// WindowOption says how a window moves, in [Conv2D], [MaxPool2D] and [AvgPool2D].
type WindowOption struct {
	text string
	set  func(*tensor.Window)
}

// String returns the option as it is written in Go.
func (o WindowOption) String() string      { return o.text }
func (o WindowOption) conv(c *Conv2DLayer) { o.set(&c.window) }
func (o WindowOption) pool(p *pooling)     { o.set(&p.window) }

// Stride moves the window by n pixels at a time. The default is 1 for Conv2D,
// and for pools the size of the window.
func Stride(n int) WindowOption {
	return WindowOption{fmt.Sprintf("Stride(%d)", n), func(w *tensor.Window) { w.Stride = [2]int{n, n} }}
}

// Padding adds n pixels on all four sides: zeros for Conv2D and AvgPool2D, nothing
// at all for MaxPool2D.
func Padding(n int) WindowOption {
	return WindowOption{fmt.Sprintf("Padding(%d)", n), func(w *tensor.Window) { w.Padding = [2]int{n, n} }}
}

// ConvolutionOption is an option of [Conv2D] alone.
type ConvolutionOption struct {
	text string
	set  func(*Conv2DLayer)
}

// String returns the option as it is written in Go.
func (o ConvolutionOption) String() string      { return o.text }
func (o ConvolutionOption) conv(c *Conv2DLayer) { o.set(c) }

// Same pads so that with a stride of 1 the image keeps its size. It needs a
// kernel of odd size.
func Same() ConvolutionOption {
	return ConvolutionOption{"Same()", func(c *Conv2DLayer) { c.same = true }}
}

// Groups computes n groups of channels apart from each other; as many groups as
// there are channels are a depthwise convolution.
func Groups(n int) ConvolutionOption {
	return ConvolutionOption{fmt.Sprintf("Groups(%d)", n), func(c *Conv2DLayer) { c.window.Groups = n }}
}

// Dilation leaves n-1 pixels between neighbours in the window.
func Dilation(n int) ConvolutionOption {
	return ConvolutionOption{fmt.Sprintf("Dilation(%d)", n), func(c *Conv2DLayer) { c.window.Dilation = [2]int{n, n} }}
}

// Conv2D returns a two-dimensional convolution with out outputs and a square kernel,
// see [tensor.Conv2D]. The first input tells the number of its channels. Weights
// start as those of [Dense], where an output has kernel² inputs for each channel
// of its group.
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
	return tensor.Conv2D(x, c.Weight, c.Bias, c.window)
}

func (*Conv2DLayer) private() bool { return true }

// Layer tells the packages that change models what the layer is.
func (c *Conv2DLayer) Layer() any {
	p := layer.Product{
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

// start makes the parameters for inputs of this shape.
func (c *Conv2DLayer) start(shape []int) {
	groups := max(c.window.Groups, 1)
	wrong := func(hint string) {
		panic(&tensor.ShapeError{Op: "Conv2D", Shapes: [][]int{shape}, Hint: hint})
	}
	switch {
	case len(shape) != 4 || shape[1] < 1:
		wrong("images [N C H W] are needed")
	case c.out < 1 || c.kernel < 1:
		wrong(fmt.Sprintf("%v must have at least one output and a kernel of at least 1", c))
	case c.same && max(c.window.Dilation[0], 1)*(c.kernel-1)%2 > 0:
		wrong("Same() needs a kernel of odd size")
	case shape[1]%groups != 0 || c.out%groups != 0:
		wrong(fmt.Sprintf("%d channels and %d outputs cannot be divided into %d groups", shape[1], c.out, groups))
	}
	channels := shape[1] / groups
	inputs := channels * c.kernel * c.kernel
	c.Weight = uniform(inputs, !c.frozen, c.out, channels, c.kernel, c.kernel)
	if !c.noBias {
		c.Bias = uniform(inputs, !c.frozen, c.out)
	}
}

// flops returns a product and an addition for each output and element of its window.
func (c *Conv2DLayer) flops(_, out []int) int {
	if c.Weight == nil {
		return 0
	}
	return 2 * volume(out) * volume(c.Weight.Shape()[1:])
}

// String returns the layer as it is written in Go.
func (c *Conv2DLayer) String() string { return "Conv2D(" + strings.Join(c.text, ", ") + ")" }
