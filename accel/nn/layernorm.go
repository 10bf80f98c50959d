package nn

import (
	"fmt"

	"github.com/quernlab/quern/accel/tensor"
)

// LayerNorm returns a layer that normalizes the last dimension to mean 0 and variance 1, and
// then applies a trained scale and shift (Ba et al., 2016):
//
//	y = (x - mean) / √(variance + 1e-5) · weight + bias
//
// The first input determines the size of weight and bias, which start at 1 and 0. [Epsilon] sets
// another value than 1e-5.
func LayerNorm(options ...NormOption) Module {
	return &layerNorm{normOptions: readNormOptions(options)}
}

// NormOption changes a [LayerNorm] or [RMSNorm] layer.
type NormOption struct {
	text    string
	epsilon float64
}

// String returns the option as Go code.
func (o NormOption) String() string { return o.text }

// Epsilon sets the value that is added before the division, 1e-5 by default.
func Epsilon(e float64) NormOption { return NormOption{fmt.Sprintf("Epsilon(%g)", e), e} }

type normOptions struct {
	epsilon float64
	text    string // the arguments as Go code
}

func readNormOptions(options []NormOption) normOptions {
	o := normOptions{epsilon: epsilon}
	for _, given := range options {
		o.epsilon, o.text = given.epsilon, given.text
	}
	return o
}

type layerNorm struct {
	lazyState
	normOptions
	weight, bias *Tensor // [size of the last dimension], nil before the first input
}

func (n *layerNorm) Forward(x *Tensor) *Tensor {
	shape := x.Shape()
	if len(shape) == 0 {
		panic(&tensor.ShapeError{Op: "LayerNorm", Shapes: [][]int{shape}, Hint: "the input must have at least one dimension"})
	}
	last := len(shape) - 1
	if n.weight == nil {
		n.weight, n.bias = tensor.Ones(shape[last]), tensor.Zeros(shape[last])
		n.weight.SetRequiresGrad(!n.frozen)
		n.bias.SetRequiresGrad(!n.frozen)
	}
	return tensor.LayerNorm(x, n.weight, n.bias, 1, n.epsilon)
}

func (n *layerNorm) String() string     { return "LayerNorm(" + n.text + ")" }
func (*layerNorm) retainsNothing() bool { return true }
