package nn

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/tensor"
)

// Conv2DLayer is a two-dimensional convolution; [Conv2D] returns it. Weight and Bias are nil
// until the first input, which determines the number of input channels.
type Conv2DLayer struct {
	lazyState
	Weight *Tensor // [out, in/groups, kernel, kernel]
	Bias   *Tensor // [out], nil with NoBias

	*adapter // of LoRA; nil for none

	options
	out, kernel int
}

// Stride sets by how many pixels, or positions, the window of a convolution or of pooling moves. The
// default is 1 for convolutions and the window size for pooling.
func Stride(n int) Option {
	return Option{option.New(func(o *options) { o.window.Stride = [2]int{n, n} }, "Stride", n)}
}

// Padding adds n pixels, or positions, on all sides: zeros for convolutions and AvgPool2D, pixels that
// are ignored for MaxPool2D.
func Padding(n int) Option {
	return Option{option.New(func(o *options) { o.window.Padding = [2]int{n, n} }, "Padding", n)}
}

// Same pads the image so that with stride 1 the output has the size of the input, like
// padding="same" in Keras and PyTorch. The kernel size must be odd, unless the dilation is even.
func Same() Option { return Option{option.New(func(o *options) { o.same = true }, "Same")} }

// Groups splits the channels into n groups that are convolved separately. With as many groups
// as channels it is a depthwise convolution.
func Groups(n int) Option {
	return Option{option.New(func(o *options) { o.window.Groups = n }, "Groups", n)}
}

// Dilation puts n-1 pixels between neighboring elements of the kernel.
func Dilation(n int) Option {
	return Option{option.New(func(o *options) { o.window.Dilation = [2]int{n, n} }, "Dilation", n)}
}

// Conv2D returns a two-dimensional convolution with out output channels and a square kernel;
// see [tensor.Conv2D]. The first input determines the number of input channels. Initial weights
// are those of [Dense], where the number of inputs is kernel² times the channels of a group. Options are
// [Stride], [Padding], [Groups], [Dilation], [NoBias] and [Same].
func Conv2D(out, kernel int, given ...Option) *Conv2DLayer {
	return &Conv2DLayer{out: out, kernel: kernel, options: convolutionOptions("Conv2D", kernel, given, "Same")}
}

// convolutionOptions reads the options of a convolution, some of which not all convolutions take.
func convolutionOptions(layer string, kernel int, given []Option, more string) options {
	o := options{}.read(layer, given, "Stride", "Padding", "Groups", "Dilation", "NoBias", more)
	if o.same {
		reach := max(o.window.Dilation[0], 1) * (kernel - 1)
		o.window.Padding = [2]int{reach / 2, reach / 2}
	}
	return o
}

// checkConvolution panics unless a layer, a convolution over this number of dimensions, can take an input of a
// shape.
func (o options) checkConvolution(layer fmt.Stringer, dims, out, kernel int, shape []int) {
	groups, hint := max(o.window.Groups, 1), ""
	switch {
	case (len(shape) != dims+2 || shape[1] < 1) && dims == 2:
		hint = "the input must be images [N, C, H, W]"
	case len(shape) != dims+2 || shape[1] < 1:
		hint = fmt.Sprintf("the input must be [N, C, …] with %d dimensions after the channels", dims)
	case out < 1 || kernel < 1:
		hint = fmt.Sprintf("%v must have at least one output channel and a kernel size of at least 1", layer)
	case shape[1]%groups != 0 || out%groups != 0:
		hint = fmt.Sprintf("%d input and %d output channels must both be multiples of the %d groups", shape[1], out, groups)
	}
	if hint != "" {
		panic(convolutionError(layer, shape, hint))
	}
}

func convolutionError(layer fmt.Stringer, shape []int, hint string) error {
	name, _, _ := strings.Cut(layer.String(), "(")
	return &tensor.ShapeError{Op: name, Shapes: [][]int{shape}, Hint: hint}
}

// checkSame panics if [Same] needs more padding on one side than on the other, also if the weights are those of a file.
func (o options) checkSame(layer fmt.Stringer, kernel int, shape []int) {
	if o.same && max(o.window.Dilation[0], 1)*(kernel-1)%2 > 0 {
		panic(convolutionError(layer, shape, "Same() needs an odd kernel size"))
	}
}

// Forward maps images [N, C, H, W] to [N, out, H', W'].
func (c *Conv2DLayer) Forward(x *Tensor) *Tensor {
	if other := layer.Substituted(&c.Weight); other != nil {
		return other(x)
	}
	c.checkSame(c, c.kernel, x.Shape())
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

// Layer describes the layer to the packages that transform models (prune, quantize, onnx). A layer
// that [LoRA] adapts is none that they know.
func (c *Conv2DLayer) Layer() any {
	if c.adapter != nil {
		return nil
	}
	p := layer.MatMul{
		Names: [2]string{"weight", "bias"}, Weight: &c.Weight, Image: true, Window: c.window,
		SetOut: func(n int) { c.out = n },
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
	c.checkConvolution(c, 2, c.out, c.kernel, shape)
	channels := shape[1] / max(c.window.Groups, 1)
	inputs := channels * c.kernel * c.kernel
	c.Weight = uniform(inputs, !c.frozen, c.out, channels, c.kernel, c.kernel)
	if !c.noBias {
		c.Bias = uniform(inputs, !c.frozen, c.out)
	}
}

// String returns the layer as Go code.
func (c *Conv2DLayer) String() string { return c.call("Conv2D", c.out, c.kernel) }

// Conv1D returns a convolution of sequences [N, C, T] with out output channels; see
// [tensor.Conv1D]. The options are those of [Conv2D]. The first input determines C. Initial weights
// are those of [Dense], where the number of inputs is kernel times the channels of a group.
func Conv1D(out, kernel int, given ...Option) Module {
	return newConvolution("Conv1D", 1, out, kernel, given)
}

// Conv3D returns a convolution of volumes [N, C, D, H, W] with out output channels and a cubic
// kernel; see [tensor.Conv3D]. The options are those of [Conv2D], which apply to all three
// dimensions. The first input determines C. Initial weights are those of [Dense], where the number
// of inputs is kernel³ times the channels of a group.
func Conv3D(out, kernel int, given ...Option) Module {
	return newConvolution("Conv3D", 3, out, kernel, given)
}

// ConvTranspose1D returns a transposed convolution of sequences [N, C, T], PyTorch's
// ConvTranspose1d; see [tensor.ConvTranspose1D]. Options and initial weights are those of
// [ConvTranspose2D].
func ConvTranspose1D(out, kernel int, given ...Option) Module {
	return newConvTranspose("ConvTranspose1D", 1, out, kernel, given)
}

// ConvTranspose2D returns a transposed convolution of images [N, C, H, W] with out output channels
// and a square kernel, PyTorch's ConvTranspose2d; see [tensor.ConvTranspose2D]. The options are
// those of [Conv2D] but [Same], and [OutputPadding]. With Stride(2), a kernel of 4 and Padding(1)
// the output has twice the height and width. The first input determines C. Initial weights and
// biases are uniform in ±1/√(out/groups·kernel²), as in PyTorch.
func ConvTranspose2D(out, kernel int, given ...Option) Module {
	return newConvTranspose("ConvTranspose2D", 2, out, kernel, given)
}

// OutputPadding adds n elements at the end of each dimension of the output of a transposed
// convolution; n must be less than the stride.
func OutputPadding(n int) Option {
	return Option{option.New(func(o *options) { o.end = n }, "OutputPadding", n)}
}

// convolution is a convolution over one or three dimensions, or a transposed one over one or two.
type convolution struct {
	lazyState
	options
	// weight is [out, in/groups, kernel…], or [in, out/groups, kernel…] if transposed, and bias [out]. Both are
	// nil before the first input.
	weight, bias *Tensor
	name         string
	transposed   bool
	dims         int
	out, kernel  int
}

func newConvolution(name string, dims, out, kernel int, given []Option) Module {
	return &convolution{name: name, dims: dims, out: out, kernel: kernel, options: convolutionOptions(name, kernel, given, "Same")}
}

func newConvTranspose(name string, dims, out, kernel int, given []Option) Module {
	o := convolutionOptions(name, kernel, given, "OutputPadding")
	return &convolution{name: name, transposed: true, dims: dims, out: out, kernel: kernel, options: o}
}

func (c *convolution) Forward(x *Tensor) *Tensor {
	c.checkSame(c, c.kernel, x.Shape())
	if c.weight == nil {
		c.checkConvolution(c, c.dims, c.out, c.kernel, x.Shape())
		shape := c.weightShape(x.Size(1))
		c.weight = uniform(product(shape[1:]), !c.frozen, shape...)
		if !c.noBias {
			c.bias = uniform(product(shape[1:]), !c.frozen, c.out)
		}
	}
	w := c.window
	switch {
	case c.transposed && c.dims == 1:
		return tensor.ConvTranspose1D(x, c.weight, c.bias, w, c.end)
	case c.transposed:
		return tensor.ConvTranspose2D(x, c.weight, c.bias, w, [2]int{c.end, c.end})
	case c.dims == 1:
		defer ofSequences(x.Shape(), c.weight.Shape())
		return tensor.Conv1D(x, c.weight, c.bias, w)
	}
	triple := func(pair [2]int) [3]int { return [3]int{pair[0], pair[0], pair[0]} }
	return tensor.Conv3D(x, c.weight, c.bias, tensor.Window3D{Stride: triple(w.Stride), Padding: triple(w.Padding), Dilation: triple(w.Dilation), Groups: w.Groups})
}

// weightShape returns the shape of the weight for a number of input channels, which is -1 if it is not known.
func (c *convolution) weightShape(in int) []int {
	groups := max(c.window.Groups, 1)
	shape := []int{c.out, in}
	switch {
	case c.transposed:
		shape = []int{in, c.out / groups}
	case in > 0:
		shape[1] = in / groups
	}
	for range c.dims {
		shape = append(shape, c.kernel)
	}
	return shape
}

// ofSequences panics again with the error of a convolution of images of height 1, as which tensor.Conv1D computes
// it, in the shapes of the sequences.
func ofSequences(x, weight []int) {
	failed := recover()
	if e, ok := failed.(*tensor.ShapeError); ok && e.Op == "Conv2D" {
		failed = &tensor.ShapeError{Op: "Conv1D", Shapes: [][]int{x, weight}, Hint: e.Hint}
	}
	if failed != nil {
		panic(failed)
	}
}

func (c *convolution) slots() []slot {
	s := []slot{{name: "weight", at: &c.weight, shape: c.weightShape(-1)}}
	if !c.noBias {
		s = append(s, slot{name: "bias", at: &c.bias, shape: []int{c.out}})
	}
	return s
}

func (c *convolution) String() string { return c.call(c.name, c.out, c.kernel) }

// MaxPool2D returns a layer that computes the maximum of each square window of images [N, C, H,
// W]. The window moves by its size unless [Stride] sets another stride. Options are Stride and
// [Padding].
func MaxPool2D(size int, given ...Option) Module {
	return newPooling("MaxPool2D", tensor.MaxPool2D, size, false, given)
}

// AvgPool2D returns a layer that computes the mean of each square window of images [N, C, H,
// W], with the options of [MaxPool2D].
func AvgPool2D(size int, given ...Option) Module {
	return newPooling("AvgPool2D", tensor.AvgPool2D, size, false, given)
}

// MaxPool1D returns a layer that computes the maximum of each window of sequences [N, C, T], such as
// the outputs of [Conv1D], with the options of [MaxPool2D].
func MaxPool1D(size int, given ...Option) Module {
	return newPooling("MaxPool1D", tensor.MaxPool2D, size, true, given)
}

// AvgPool1D returns a layer that computes the mean of each window of sequences [N, C, T], with the
// options of [MaxPool2D].
func AvgPool1D(size int, given ...Option) Module {
	return newPooling("AvgPool1D", tensor.AvgPool2D, size, true, given)
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
	rows     bool // sequences are pooled as images of one row
}

func newPooling(name string, function poolFunc, size int, rows bool, given []Option) Module {
	p := &pooling{name: name, function: function, size: size, rows: rows, options: options{}.read(name, given, "Stride", "Padding")}
	if rows {
		p.window.Stride[0], p.window.Padding[0], p.window.Stride[1] = 1, 0, cmp.Or(p.window.Stride[1], size)
	}
	return p
}

func (p *pooling) Forward(x *Tensor) *Tensor {
	if !p.rows {
		return p.function(x, [2]int{p.size, p.size}, p.window)
	}
	requireChannels(p.String(), x)
	n, c, t := x.Size(0), x.Size(1), x.Size(2)
	var s scratch
	defer s.release()
	y := s.keep(p.function(s.keep(x.Reshape(n, c, 1, t)), [2]int{1, p.size}, p.window))
	return y.Reshape(n, c, y.Size(3))
}

func (p *pooling) String() string     { return p.call(p.name, p.size) }
func (*pooling) retainsNothing() bool { return true }

func (p *pooling) Layer() any {
	if p.name == "MaxPool2D" {
		return layer.MaxPool{Size: p.size, Window: p.window}
	}
	return layer.Channelwise{}
}

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
