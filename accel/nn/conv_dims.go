package nn

import (
	"fmt"
	"strings"

	"github.com/quernlab/quern/accel/tensor"
)

// Conv1D returns a convolution of sequences [N, C, T] with out output channels; see
// [tensor.Conv1D]. The options are those of [Conv2D]. The first input determines C. Initial weights
// are those of [Dense], where the number of inputs is kernel times the channels of a group.
func Conv1D(out, kernel int, options ...Conv2DOption) Module {
	return newConvolution("Conv1D", 1, out, kernel, options)
}

// Conv3D returns a convolution of volumes [N, C, D, H, W] with out output channels and a cubic
// kernel; see [tensor.Conv3D]. The options are those of [Conv2D], which apply to all three
// dimensions. The first input determines C. Initial weights are those of [Dense], where the number
// of inputs is kernel³ times the channels of a group.
func Conv3D(out, kernel int, options ...Conv2DOption) Module {
	return newConvolution("Conv3D", 3, out, kernel, options)
}

// convolution is a convolution over one or three dimensions.
type convolution struct {
	lazyState
	weight, bias *Tensor // [out, in/groups, kernel…] and [out], nil before the first input
	name         string
	dims         int
	options      convOptions
}

// convOptions are the settings of convolutions, which are those of a [Conv2D] layer.
type convOptions struct {
	out, kernel  int
	window       tensor.Window
	same, noBias bool
	text         string // the arguments as Go code
}

func newConvolution(name string, dims, out, kernel int, options []Conv2DOption) Module {
	return &convolution{name: name, dims: dims, options: readConvOptions(out, kernel, options)}
}

func readConvOptions(out, kernel int, options []Conv2DOption) convOptions {
	c := Conv2D(out, kernel, options...)
	return convOptions{out, kernel, c.window, c.same, c.noBias, strings.Join(c.text, ", ")}
}

// check panics unless an input of this shape, with a number of dimensions after the channels, can be
// convolved.
func (o convOptions) check(name string, dims int, shape []int) {
	groups, hint := max(o.window.Groups, 1), ""
	switch {
	case len(shape) != dims+2 || shape[1] < 1:
		hint = fmt.Sprintf("the input must be [N, C, …] with %d dimensions after the channels", dims)
	case o.out < 1 || o.kernel < 1:
		hint = fmt.Sprintf("%s(%s) must have at least one output channel and a kernel size of at least 1", name, o.text)
	case o.same && max(o.window.Dilation[0], 1)*(o.kernel-1)%2 > 0:
		hint = "Same() needs an odd kernel size"
	case shape[1]%groups != 0 || o.out%groups != 0:
		hint = fmt.Sprintf("%d input and %d output channels must both be multiples of the %d groups", shape[1], o.out, groups)
	}
	if hint != "" {
		panic(&tensor.ShapeError{Op: name, Shapes: [][]int{shape}, Hint: hint})
	}
}

// kernelShape returns the shape of a weight.
func (o convOptions) kernelShape(first, second, dims int) []int {
	shape := []int{first, second}
	for range dims {
		shape = append(shape, o.kernel)
	}
	return shape
}

func (c *convolution) Forward(x *Tensor) *Tensor {
	if c.weight == nil {
		c.options.check(c.name, c.dims, x.Shape())
		shape := c.options.kernelShape(c.options.out, x.Size(1)/max(c.options.window.Groups, 1), c.dims)
		c.weight = uniform(product(shape[1:]), !c.frozen, shape...)
		if !c.options.noBias {
			c.bias = uniform(product(shape[1:]), !c.frozen, c.options.out)
		}
	}
	w := c.options.window
	if c.dims == 1 {
		defer ofSequences(x.Shape(), c.weight.Shape())
		return tensor.Conv1D(x, c.weight, c.bias, w)
	}
	triple := func(pair [2]int) [3]int { return [3]int{pair[0], pair[0], pair[0]} }
	return tensor.Conv3D(x, c.weight, c.bias, tensor.Window3D{Stride: triple(w.Stride), Padding: triple(w.Padding), Dilation: triple(w.Dilation), Groups: w.Groups})
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
	s := []slot{{name: "weight", at: &c.weight, shape: c.options.kernelShape(c.options.out, -1, c.dims)}}
	if !c.options.noBias {
		s = append(s, slot{name: "bias", at: &c.bias, shape: []int{c.options.out}})
	}
	return s
}

func (*convolution) retainsNothing() bool { return true }
func (c *convolution) String() string     { return c.name + "(" + c.options.text + ")" }
