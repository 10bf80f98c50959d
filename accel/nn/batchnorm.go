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
//
// In a data-parallel training each rank normalises with its own part of the batch;
// see [SyncBatchNorm].
func BatchNorm() Module { return &batchNorm{} }

// SyncBatchNorm is [BatchNorm] that takes mean and variance over the parts of a batch
// that all ranks of a data-parallel training have, as if it were one batch: torch's
// SyncBatchNorm. It needs to know the ranks: accel.Fit with accel.DataParallel tells it
// for the time of the training, the Begin of a parallel.Gradients for a loop of one's
// own. Until then, and on one rank, it is BatchNorm.
//
// The ranks wait for each other in each such layer, forward and backward. What is sent is
// small, two numbers a channel each time, but the waits are not for nothing: use it
// where a rank's part of a batch is too small for statistics of its own.
func SyncBatchNorm() Module { return &batchNorm{synchronised: true} }

// ConvertSyncBatchNorm makes each [BatchNorm] of a model a [SyncBatchNorm], in place, and
// returns how many it was; torch's convert_sync_batchnorm. Parameters and running means
// stay the same tensors, and files of [Save] fit both.
func ConvertSyncBatchNorm(model any) (converted int) {
	walk(model, func(_ []string, v any) {
		if n, ok := v.(*batchNorm); ok && !n.synchronised {
			n.synchronised = true
			converted++
		}
	})
	return converted
}

// epsilon is what keeps BatchNorm from dividing by zero.
const epsilon = 1e-5

type batchNorm struct {
	untouched
	weight, bias            *Tensor // [C], nil before the first input
	runningMean, runningVar *Tensor // [C]
	evaluating              bool
	synchronised            bool
	across                  tensor.ProcessGroup // the ranks; nil where there are none
}

func (n *batchNorm) Forward(x *Tensor) *Tensor {
	if other := substitute.For(n); other != nil {
		return other(x)
	}
	shape := x.Shape()
	if len(shape) < 2 {
		panic(&tensor.ShapeError{Op: n.name(), Shapes: [][]int{shape}, Hint: "an input [N, C] or [N, C, …] is needed"})
	}
	if n.weight == nil {
		n.make(shape[1:2])
	}
	training := !n.evaluating && !substitute.Open()
	if training && n.across != nil {
		return tensor.SyncBatchNorm(x, n.weight, n.bias, n.runningMean, n.runningVar, 0.1, epsilon, n.across)
	}
	return tensor.BatchNorm(x, n.weight, n.bias, n.runningMean, n.runningVar, 0.1, epsilon, training)
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
func (n *batchNorm) String() string      { return n.name() + "()" }
func (*batchNorm) private() bool         { return true }

func (n *batchNorm) name() string {
	if n.synchronised {
		return "SyncBatchNorm"
	}
	return "BatchNorm"
}

var _ layer.Synchronized = (*batchNorm)(nil)

// OverRanks reports whether the layer is a SyncBatchNorm.
func (n *batchNorm) OverRanks() bool { return n.synchronised }

// Synchronize tells the layer through what ranks add up; nil for none.
func (n *batchNorm) Synchronize(through tensor.ProcessGroup) { n.across = through }

func (n *batchNorm) Layer() any {
	return layer.Normalization{Weight: &n.weight, Bias: &n.bias, Mean: &n.runningMean, Variance: &n.runningVar, Epsilon: epsilon}
}
