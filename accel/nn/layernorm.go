package nn

import "github.com/quernlab/quern/accel/tensor"

// LayerNorm returns a layer that normalizes the last dimension to mean 0 and variance 1, and
// then applies a trained scale and shift (Ba et al., 2016):
//
//	y = (x - mean) / √(variance + 1e-5) · weight + bias
//
// The first input determines the size of weight and bias, which start at 1 and 0.
func LayerNorm() Module { return &layerNorm{} }

type layerNorm struct {
	lazyState
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
	return tensor.LayerNorm(x, n.weight, n.bias, 1, 1e-5)
}

func (*layerNorm) String() string       { return "LayerNorm()" }
func (*layerNorm) retainsNothing() bool { return true }
