package nn

import (
	"github.com/quernlab/quern/accel/internal/option"
	"github.com/quernlab/quern/accel/tensor"
)

// LayerNorm returns a layer that normalizes the last dimension to mean 0 and variance 1, and
// then applies a trained scale and shift (Ba et al., 2016):
//
//	y = (x - mean) / √(variance + 1e-5) · weight + bias
//
// The first input determines the size of weight and bias, which start at 1 and 0. [Epsilon] sets
// another value than 1e-5.
func LayerNorm(given ...Option) Module { return &layerNorm{options: normOptions("LayerNorm", given)} }

// Epsilon sets the value that [LayerNorm] and [RMSNorm] add before the division, 1e-5 by default.
func Epsilon(e float64) Option {
	return Option{option.New(func(o *options) { o.epsilon = e }, "Epsilon", e)}
}

func normOptions(layer string, given []Option) options {
	return options{epsilon: epsilon}.read(layer, given, "Epsilon")
}

type layerNorm struct {
	lazyState
	options
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

func (n *layerNorm) String() string     { return n.call("LayerNorm") }
func (*layerNorm) retainsNothing() bool { return true }

// RMSNorm returns a layer that divides by the root mean square over the last dimension, and
// then multiplies by a trained scale (Zhang and Sennrich, 2019):
//
//	y = x / √(mean(x²) + 1e-5) · weight
//
// The first input determines the size of weight, which starts at 1. [Epsilon] sets another value
// than 1e-5.
func RMSNorm(given ...Option) Module { return &rmsNorm{options: normOptions("RMSNorm", given)} }

type rmsNorm struct {
	lazyState
	options
	weight *Tensor // [size of the last dimension], nil before the first input
}

func (n *rmsNorm) Forward(x *Tensor) *Tensor {
	shape := x.Shape()
	if len(shape) == 0 {
		panic(&tensor.ShapeError{Op: "RMSNorm", Shapes: [][]int{shape}, Hint: "the input must have at least one dimension"})
	}
	last := len(shape) - 1
	if n.weight == nil {
		n.weight = tensor.Ones(shape[last])
		n.weight.SetRequiresGrad(!n.frozen)
	}
	return tensor.RMSNorm(x, n.weight, 1, n.epsilon)
}

func (n *rmsNorm) String() string     { return n.call("RMSNorm") }
func (*rmsNorm) retainsNothing() bool { return true }
