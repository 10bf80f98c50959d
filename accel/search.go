package accel

import (
	"context"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/loop"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/parallel/plan"
	"github.com/quernlab/quern/accel/search"
)

// LRSearch is what [FindLR] found: see [search.LRSearch].
type LRSearch = search.LRSearch

// BatchSizeSearch is what [FindBatchSize] measured: see [search.BatchSizeSearch].
type BatchSizeSearch = search.BatchSizeSearch

// Advice is what [Advise] measured: see [search.Advice].
type Advice = search.Advice

// CheckResult is what [Check] found: see [search.CheckResult].
type CheckResult = search.CheckResult

// FindLR suggests a learning rate (Smith, Cyclical Learning Rates, 2017). It trains for up to a
// hundred steps with learning rates that rise from 1e-7 to 10, until the loss, as a
// moving average, is four times its minimum, and suggests the rate at which the loss fell fastest. Options are those of [Fit];
// optimizer, batch size and loss affect the suggestion. The model's weights and the random numbers are
// restored afterwards; layers that had no parameters yet keep those that they got in the search.
func FindLR(ctx context.Context, model nn.Module, train *data.Dataset, given ...Option) (*LRSearch, error) {
	return search.FindLR(ctx, training(model, train, inFit, given))
}

// FindBatchSize measures how fast a model trains with batches of 16, 32, 64 and so on, for a
// few steps each, up to 16,384, the size of the data set, or the limit of the memory. It
// suggests the smallest batch size with nearly the highest speed. Larger batches are not better
// in themselves: an epoch then has fewer updates. Options are those of [Fit]. The model's
// weights are restored afterwards.
func FindBatchSize(ctx context.Context, model nn.Module, train *data.Dataset, given ...Option) (*BatchSizeSearch, error) {
	return search.FindBatchSize(ctx, training(model, train, inFit, given))
}

// Advise tries changes that may make the training of a model faster or smaller: a larger batch,
// more workers, the data set on the device, 16-bit floats, Recompute, and each GPU of the
// machine. It tries each change by itself, in three rounds of a fraction of a second, which are
// interleaved with the unchanged training. It recommends a change only if every round with it
// was faster than every round without; if only the median was faster, it says "perhaps".
//
// Advise measures speed and memory. To see how a batch size or a precision affects the result
// of training, use [Compare]. Options are those of [Fit]. The model's weights are restored
// afterwards.
func Advise(ctx context.Context, model nn.Module, train *data.Dataset, given ...Option) (*Advice, error) {
	return search.Advise(ctx, training(model, train, inFit, given))
}

// Check looks for typical mistakes before a training. Options are those of [Fit]. It makes a few updates
// and searches a learning rate ([FindLR]); the model's weights and the random numbers are restored
// afterwards. It finds, among others:
//
//   - labels: one class only, or one that is far more frequent than all others;
//   - examples far from the scale 1, images in 0…255, images with the channels last;
//   - a validation set that shares examples with the training set, or has classes that this lacks;
//   - a softmax, sigmoid or tanh before a loss that takes logits, a softmax over the batch, linear layers in a
//     row, more outputs than classes, a loss that broadcasts predictions [N, 1] and targets [N] to all pairs,
//     targets that the last activation cannot reach, parameters without a gradient;
//   - gradients that vanish or explode, and a learning rate far from the suggestion.
//
// Fit finds the same in its first steps, without the search, and at its end examines the curve of the loss,
// the units that are dead, and a validation that is far worse than the training. It adds what it found to [Run.Notes].
func Check(ctx context.Context, model nn.Module, train *data.Dataset, given ...Option) (*CheckResult, error) {
	return search.Check(ctx, training(model, train, inCheck, given))
}

// OverfitBatch makes [Check] train the model with one batch, 200 times. A model that can learn anything
// learns these few examples by heart: if its loss does not fall to a tenth, then data, model or loss are
// wrong, or the learning rate is, or dropout or augmentation, which stay on, make it impossible.
func OverfitBatch() Option {
	o := plain("OverfitBatch()", func(c *loop.Settings) { c.Overfit = true })
	return o.in(inCheck)
}

// training returns a training for a search, with the options that a function of this scope accepts.
func training(model nn.Module, train *data.Dataset, s scope, given []Option) search.Training {
	return search.Training{Model: model, Dataset: train, Settings: func(change func(*loop.Settings)) (*loop.Settings, error) {
		return optionsIn(s, given, change)
	}}
}

// PlanParallel finds the fastest meshes of data, tensor and pipeline parallelism for the training of a model on a cluster,
// with a batch of examples of all GPUs together: it predicts the time of a step, the memory of each GPU and the cost, for 8 GPUs up to those of
// the cluster, and says what limits them. It needs no GPU; see package plan. The errors are those of [plan.Search].
//
//	model := plan.Transformer{…}.Model(plan.BF16())
//	accel.PlanParallel(model, plan.DGXH100(512), 2048)
func PlanParallel(model plan.Model, cluster plan.Cluster, batch int, options ...plan.Option) (*plan.Plan, error) {
	return plan.Search(model, cluster, batch, options...)
}
