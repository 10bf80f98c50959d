package nn

import (
	"github.com/quernlab/quern/accel/internal/layer"
	"github.com/quernlab/quern/accel/internal/substitute"
	"github.com/quernlab/quern/accel/tensor"
)

// BatchNorm gives each channel mean 0 and variance 1, over the batch and over
// the pixels, and then a scale and a shift that are trained (Ioffe and Szegedy,
// 2015):
//
//	y = (x - mean) / √(variance + 1e-5) · weight + bias
//
// It takes [N, C] and [N, C, …]. While training, mean and variance are those of
// the batch, which must hold at least two numbers of each channel, and running
// means of them are kept: a tenth of each new one, as PyTorch's with momentum
// 0.1, the variance as that of a sample. In evaluation mode the running means
// are used.
func BatchNorm() Module { return &batchNorm{} }

// epsilon is what keeps BatchNorm from dividing by zero.
const epsilon = 1e-5

type batchNorm struct {
	untouched
	weight, bias            *Tensor // [C], nil before the first input
	runningMean, runningVar *Tensor // [C]
	evaluating              bool
}

func (n *batchNorm) Forward(x *Tensor) *Tensor {
	if other := substitute.For(n); other != nil {
		return other(x)
	}
	shape := x.Shape()
	if len(shape) < 2 {
		panic(&tensor.ShapeError{Op: "BatchNorm", Shapes: [][]int{shape}, Hint: "an input [N, C] or [N, C, …] is needed"})
	}
	if n.weight == nil {
		n.make(shape[1:2])
	}
	return tensor.BatchNorm(x, n.weight, n.bias, n.runningMean, n.runningVar, 0.1, epsilon, !n.evaluating && !substitute.Open())
}

// make begins with parameters of this shape.
func (n *batchNorm) make(shape []int) {
	n.weight, n.bias = tensor.Ones(shape...), tensor.Zeros(shape...)
	n.weight.SetRequiresGrad(!n.frozen)
	n.bias.SetRequiresGrad(!n.frozen)
	n.runningMean, n.runningVar = tensor.Zeros(shape...), tensor.Ones(shape...)
}

func (n *batchNorm) setTraining(on bool) { n.evaluating = !on }
func (n *batchNorm) mode() func() {
	evaluating := n.evaluating
	return func() { n.evaluating = evaluating }
}

func (n *batchNorm) measured() []*Tensor { return []*Tensor{n.runningMean, n.runningVar} }
func (*batchNorm) String() string        { return "BatchNorm()" }
func (*batchNorm) private() bool         { return true }

func (n *batchNorm) Layer() any {
	return layer.Normalization{Weight: &n.weight, Bias: &n.bias, Mean: &n.runningMean, Variance: &n.runningVar, Epsilon: epsilon}
}
