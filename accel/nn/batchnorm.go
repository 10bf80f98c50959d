package nn

import (
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/tensor"
)

// BatchNorm normalizes each channel to mean 0 and variance 1 over the batch and the pixels, and
// then applies a trained scale and shift (Ioffe and Szegedy, 2015):
//
//	y = (x - mean) / √(variance + 1e-5) · weight + bias
//
// It takes [N, C] and [N, C, …]. In training mode, mean and variance are those of the batch,
// which must have at least two values in each channel. The layer keeps running means of both
// with momentum 0.1, as PyTorch does; the running variance is the unbiased one. In evaluation
// mode it uses the running means.
//
// In data-parallel training each rank normalizes with its own part of the batch; see
// [SyncBatchNorm].
func BatchNorm() Module { return &batchNorm{} }

// SyncBatchNorm is a [BatchNorm] that computes mean and variance over the batch of all ranks in
// data-parallel training, as PyTorch's SyncBatchNorm does. accel.Fit with accel.DataParallel
// connects it to the other ranks during the training; in your own training loop,
// parallel.Gradients.Begin does. Without that, and with one rank, it is a BatchNorm.
//
// The ranks wait for each other in each such layer, forward and backward. They exchange only
// two numbers per channel, but the latency adds up: use it if a rank's part of a batch is too
// small for its own statistics.
func SyncBatchNorm() Module { return &batchNorm{synchronized: true} }

// ConvertSyncBatchNorm converts each [BatchNorm] of a model to a [SyncBatchNorm] in place, as
// PyTorch's convert_sync_batchnorm does, and returns their number. Parameters and running means
// remain the same tensors, and files of [Save] fit both.
func ConvertSyncBatchNorm(model any) (converted int) {
	walk(model, func(_ []string, v any) {
		if n, ok := v.(*batchNorm); ok && !n.synchronized {
			n.synchronized = true
			converted++
		}
	})
	return converted
}

// epsilon is added to the variance, so that BatchNorm does not divide by zero.
const epsilon = 1e-5

type batchNorm struct {
	lazyState
	weight, bias            *Tensor // [C], nil before the first input
	runningMean, runningVar *Tensor // [C]
	evaluating              bool
	fixed                   bool // FreezeStatistics
	synchronized            bool
	across                  tensors.ProcessGroup[*tensor.Tensor] // sums over the ranks; nil without ranks
}

func (n *batchNorm) Forward(x *Tensor) *Tensor {
	if other := layer.Substituted(n); other != nil {
		return other(x)
	}
	shape := x.Shape()
	if len(shape) < 2 {
		panic(&tensor.ShapeError{Op: n.name(), Shapes: [][]int{shape}, Hint: "the input must have shape [N, C] or [N, C, …]"})
	}
	if n.weight == nil {
		n.make(shape[1:2])
	}
	training := !n.evaluating && !n.fixed && !layer.Substituting()
	if training && n.across != nil {
		return tensors.SyncBatchNorm(tensors.SyncBatch[*tensor.Tensor]{X: x, Weight: n.weight, Bias: n.bias, Mean: n.runningMean, Variance: n.runningVar, Momentum: 0.1, Epsilon: epsilon, Group: n.across})
	}
	return tensor.BatchNorm(x, n.weight, n.bias, n.runningMean, n.runningVar, 0.1, epsilon, training)
}

// make creates the parameters and running means.
func (n *batchNorm) make(shape []int) {
	n.weight, n.bias = tensor.Ones(shape...), tensor.Zeros(shape...)
	n.weight.SetRequiresGrad(!n.frozen)
	n.bias.SetRequiresGrad(!n.frozen)
	n.runningMean, n.runningVar = tensor.Zeros(shape...), tensor.Ones(shape...)
}

func (n *batchNorm) setTraining(on bool) { n.evaluating = !on }
func (n *batchNorm) saveMode() func() {
	evaluating := n.evaluating
	return func() { n.evaluating = evaluating }
}

func (n *batchNorm) buffers() []*Tensor { return []*Tensor{n.runningMean, n.runningVar} }
func (n *batchNorm) String() string     { return n.name() + "()" }
func (*batchNorm) retainsNothing() bool { return true }

func (n *batchNorm) name() string {
	if n.synchronized {
		return "SyncBatchNorm"
	}
	return "BatchNorm"
}

var _ layer.Synchronized = (*batchNorm)(nil)

// OverRanks reports whether the layer is a SyncBatchNorm.
func (n *batchNorm) OverRanks() bool { return n.synchronized }

// Synchronize sets the ranks over which the layer sums its statistics; nil means this process
// alone.
func (n *batchNorm) Synchronize(through tensors.ProcessGroup[*tensor.Tensor]) { n.across = through }

func (n *batchNorm) Layer() any {
	return layer.Normalization{Weight: &n.weight, Bias: &n.bias, Mean: &n.runningMean, Variance: &n.runningVar, Epsilon: epsilon}
}
