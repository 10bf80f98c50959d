package nn

import "github.com/quernlab/quern/accel/tensor"

// RMSNorm returns a layer that divides by the root mean square over the last dimension, and
// then multiplies by a trained scale (Zhang and Sennrich, 2019):
//
//	y = x / √(mean(x²) + 1e-5) · weight
//
// The first input determines the size of weight, which starts at 1.
func RMSNorm() Module { return &rmsNorm{} }

type rmsNorm struct {
	lazyState
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
	return tensor.RMSNorm(x, n.weight, 1, 1e-5)
}

func (*rmsNorm) String() string       { return "RMSNorm()" }
func (*rmsNorm) retainsNothing() bool { return true }
