package nn

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/tensor"
)

// LayerNorm returns a layer that normalizes the last dimension to mean 0 and variance 1, and
// then applies a trained scale and shift (Ba et al., 2016):
//
//	y = (x - mean) / √(variance + 1e-5) · weight + bias
//
// The first input determines the size of weight and bias, which start at 1 and 0. [Epsilon] sets
// another value than 1e-5.
func LayerNorm(given ...Option) Module { return newRowNorm("LayerNorm", given) }

// Epsilon sets the value that [LayerNorm] and [RMSNorm] add before the division, 1e-5 by default.
func Epsilon(e float64) Option {
	return Option{option.New(func(o *options) { o.epsilon = e }, "Epsilon", e)}
}

// RMSNorm returns a layer that divides by the root mean square over the last dimension, and
// then multiplies by a trained scale (Zhang and Sennrich, 2019):
//
//	y = x / √(mean(x²) + 1e-5) · weight
//
// The first input determines the size of weight, which starts at 1. [Epsilon] sets another value
// than 1e-5.
func RMSNorm(given ...Option) Module { return newRowNorm("RMSNorm", given) }

// rowNorm normalizes the last dimension.
type rowNorm struct {
	lazyState
	options
	name         string
	weight, bias *Tensor // [size of the last dimension], nil before the first input; RMSNorm has no bias
}

func newRowNorm(name string, given []Option) Module {
	return &rowNorm{name: name, options: options{epsilon: epsilon}.read(name, given, "Epsilon")}
}

func (n *rowNorm) Forward(x *Tensor) *Tensor {
	shape := x.Shape()
	if len(shape) == 0 {
		panic(&tensor.ShapeError{Op: n.name, Shapes: [][]int{shape}, Hint: "the input must have at least one dimension"})
	}
	if size := shape[len(shape)-1]; n.weight == nil {
		if n.weight = n.parameter(tensor.Ones(size)); n.name != "RMSNorm" {
			n.bias = n.parameter(tensor.Zeros(size))
		}
	}
	if n.name == "RMSNorm" {
		return tensor.RMSNorm(x, n.weight, 1, n.epsilon)
	}
	return tensor.LayerNorm(x, n.weight, n.bias, 1, n.epsilon)
}

func (n *rowNorm) String() string { return n.call(n.name) }

// GroupNorm returns a layer that splits the channels of [N, C, …] into groups, normalizes each
// group of each example to mean 0 and variance 1, and then applies a trained scale and shift to
// each channel (Wu and He, 2018):
//
//	y = (x - mean) / √(variance + 1e-5) · weight + bias
//
// Unlike [BatchNorm] it does not depend on the other examples. The first input determines C, which
// must be a multiple of groups; weight and bias start at 1 and 0. It is PyTorch's GroupNorm.
func GroupNorm(groups int) Module { return &groupNorm{groups: groups} }

type groupNorm struct {
	lazyState
	weight, bias *Tensor // [C], nil before the first input
	groups       int
}

func (n *groupNorm) Forward(x *Tensor) *Tensor {
	shape := x.Shape()
	if len(shape) < 2 || n.groups < 1 || shape[1]%n.groups != 0 {
		panic(&tensor.ShapeError{Op: "GroupNorm", Shapes: [][]int{shape}, Hint: fmt.Sprintf("the input must be [N, C, …] with a number of channels that is a multiple of the %d groups", n.groups)})
	}
	if n.weight == nil {
		n.weight, n.bias = n.parameter(tensor.Ones(shape[1])), n.parameter(tensor.Zeros(shape[1]))
	}
	var s scratch
	defer s.release()
	perChannel := slices.Repeat([]int{1}, len(shape)-1) // [C, 1, …]
	perChannel[0] = n.weight.Size(0)
	normalized := s.keep(normalizeGroups(&s, x, n.groups))
	return s.keep(normalized.Mul(s.keep(n.weight.Reshape(perChannel...)))).Add(s.keep(n.bias.Reshape(perChannel...)))
}

// normalizeGroups normalizes each group of channels of each example.
func normalizeGroups(s *scratch, x *Tensor, groups int) *Tensor {
	shape := x.Shape()
	grouped := s.keep(x.Reshape(append([]int{shape[0], groups, shape[1] / groups}, shape[2:]...)...))
	return s.keep(tensor.LayerNorm(grouped, nil, nil, len(shape)-1, epsilon)).Reshape(shape...)
}

func (n *groupNorm) String() string { return fmt.Sprintf("GroupNorm(%d)", n.groups) }

// InstanceNorm returns a layer that normalizes each channel of each example of [N, C, …] to mean 0
// and variance 1 (Ulyanov et al., 2016): y = (x - mean) / √(variance + 1e-5). Like PyTorch's
// InstanceNorm it has no parameters by default; a [GroupNorm] with as many groups as channels has a
// scale and a shift.
func InstanceNorm() Module { return &instanceNorm{} }

type instanceNorm struct{}

func (*instanceNorm) Forward(x *Tensor) *Tensor {
	shape := x.Shape()
	if len(shape) < 3 || shape[1] < 1 || product(shape[2:]) < 2 {
		panic(&tensor.ShapeError{Op: "InstanceNorm", Shapes: [][]int{shape}, Hint: "the input must be [N, C, …] with at least two elements in each channel"})
	}
	var s scratch
	defer s.release()
	return normalizeGroups(&s, x, shape[1])
}

func (*instanceNorm) String() string       { return "InstanceNorm()" }
func (*instanceNorm) retainsNothing() bool { return true }

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
	n.weight, n.bias = n.parameter(tensor.Ones(shape...)), n.parameter(tensor.Zeros(shape...))
	n.runningMean, n.runningVar = tensor.Zeros(shape...), tensor.Ones(shape...)
}

func (n *batchNorm) setTraining(on bool) { n.evaluating = !on }
func (n *batchNorm) saveMode() func() {
	evaluating := n.evaluating
	return func() { n.evaluating = evaluating }
}

func (n *batchNorm) buffers() []*Tensor { return []*Tensor{n.runningMean, n.runningVar} }
func (n *batchNorm) String() string     { return n.name() + "()" }

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
