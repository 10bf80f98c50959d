package nn

import "github.com/quernlab/quern/accel/tensor"

// RMSNorm divides each example by the root of the mean of its squares over the
// last dimension, and multiplies by a scale that is trained (Zhang and
// Sennrich, 2019):
//
//	y = x / √(mean(x²) + 1e-5) · weight
//
// The first input tells the size of weight, which starts at 1.
func RMSNorm() Module { return &rmsNorm{} }

type rmsNorm struct {
	untouched
	weight *Tensor // [size of the last dimension], nil before the first input
}

func (n *rmsNorm) Forward(x *Tensor) *Tensor {
	shape := x.Shape()
	if len(shape) == 0 {
		panic(&tensor.ShapeError{Op: "RMSNorm", Shapes: [][]int{shape}, Hint: "an input of at least one dimension is needed"})
	}
	last := len(shape) - 1
	if n.weight == nil {
		n.weight = tensor.Ones(shape[last])
		n.weight.SetRequiresGrad(!n.frozen)
	}
	return tensor.RMSNorm(x, n.weight, 1, 1e-5)
}

func (*rmsNorm) String() string { return "RMSNorm()" }
func (*rmsNorm) private() bool  { return true }
