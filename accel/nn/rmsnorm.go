package nn

import "github.com/quernlab/quern/accel/tensor"

// RMSNorm returns a layer that divides by the root mean square over the last dimension, and
// then multiplies by a trained scale (Zhang and Sennrich, 2019):
//
//	y = x / √(mean(x²) + 1e-5) · weight
//
// The first input determines the size of weight, which starts at 1. [Epsilon] sets another value
// than 1e-5.
func RMSNorm(options ...NormOption) Module { return &rmsNorm{normOptions: readNormOptions(options)} }

type rmsNorm struct {
	lazyState
	normOptions
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

func (n *rmsNorm) String() string     { return "RMSNorm(" + n.text + ")" }
func (*rmsNorm) retainsNothing() bool { return true }
