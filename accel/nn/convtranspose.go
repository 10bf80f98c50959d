package nn

import (
	"fmt"

	"github.com/quernlab/quern/accel/tensor"
)

// OutputPadding adds n elements at the end of each dimension of the output of a transposed
// convolution; n must be less than the stride.
func OutputPadding(n int) TransposedOption {
	return TransposedOption{fmt.Sprintf("OutputPadding(%d)", n), n}
}

// TransposedOption is an option of [ConvTranspose1D] and [ConvTranspose2D] only.
type TransposedOption struct {
	text    string
	padding int
}

// String returns the option as Go code.
func (o TransposedOption) String() string  { return o.text }
func (TransposedOption) conv(*Conv2DLayer) {}

// ConvTranspose1D returns a transposed convolution of sequences [N, C, T], PyTorch's
// ConvTranspose1d; see [tensor.ConvTranspose1D]. Options and initial weights are those of
// [ConvTranspose2D].
func ConvTranspose1D(out, kernel int, options ...Conv2DOption) Module {
	return newConvTranspose("ConvTranspose1D", 1, out, kernel, options)
}

// ConvTranspose2D returns a transposed convolution of images [N, C, H, W] with out output channels
// and a square kernel, PyTorch's ConvTranspose2d; see [tensor.ConvTranspose2D]. The options are
// those of [Conv2D] but [Same], and [OutputPadding]. With Stride(2), a kernel of 4 and Padding(1)
// the output has twice the height and width. The first input determines C. Initial weights and
// biases are uniform in ±1/√(out/groups·kernel²), as in PyTorch.
func ConvTranspose2D(out, kernel int, options ...Conv2DOption) Module {
	return newConvTranspose("ConvTranspose2D", 2, out, kernel, options)
}

// convTranspose is a transposed convolution over one or two dimensions.
type convTranspose struct {
	lazyState
	weight, bias  *Tensor // [in, out/groups, kernel…] and [out], nil before the first input
	name          string
	dims          int
	options       convOptions
	outputPadding int
}

func newConvTranspose(name string, dims, out, kernel int, options []Conv2DOption) Module {
	c := &convTranspose{name: name, dims: dims, options: readConvOptions(out, kernel, options)}
	for _, o := range options {
		if t, ok := o.(TransposedOption); ok {
			c.outputPadding = t.padding
		}
	}
	return c
}

func (c *convTranspose) Forward(x *Tensor) *Tensor {
	if c.weight == nil {
		c.options.check(c.name, c.dims, x.Shape())
		if c.options.same {
			panic(&tensor.ShapeError{Op: c.name, Shapes: [][]int{x.Shape()}, Hint: "a transposed convolution has no option Same(); use Padding"})
		}
		shape := c.options.kernelShape(x.Size(1), c.options.out/max(c.options.window.Groups, 1), c.dims)
		c.weight = uniform(product(shape[1:]), !c.frozen, shape...)
		if !c.options.noBias {
			c.bias = uniform(product(shape[1:]), !c.frozen, c.options.out)
		}
	}
	if c.dims == 1 {
		return tensor.ConvTranspose1D(x, c.weight, c.bias, c.options.window, c.outputPadding)
	}
	return tensor.ConvTranspose2D(x, c.weight, c.bias, c.options.window, [2]int{c.outputPadding, c.outputPadding})
}

func (c *convTranspose) slots() []slot {
	s := []slot{{name: "weight", at: &c.weight, shape: c.options.kernelShape(-1, c.options.out/max(c.options.window.Groups, 1), c.dims)}}
	if !c.options.noBias {
		s = append(s, slot{name: "bias", at: &c.bias, shape: []int{c.options.out}})
	}
	return s
}

func (*convTranspose) retainsNothing() bool { return true }
func (c *convTranspose) String() string     { return c.name + "(" + c.options.text + ")" }
