package nn

import (
	"github.com/quernlab/quern/accel/internal/option"
	"github.com/quernlab/quern/accel/tensor"
)

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

func (*convolution) retainsNothing() bool { return true }
func (c *convolution) String() string     { return c.call(c.name, c.out, c.kernel) }
