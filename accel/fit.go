package accel

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/loop"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/tensor"
)

// Fit trains a model on a data set. Without options it trains for five epochs in batches of 64
// examples with AdamW at a learning rate of 1e-3.
//
// Each epoch uses the examples in a different order, which [Seed] determines. Fit puts the
// model into training mode and leaves it there.
//
// Fit returns the run so far also with an error: the error of ctx when ctx is done;
// [*DivergedError] when the loss becomes NaN or infinite; an error that names the layer and
// wraps [*tensor.ShapeError] when the model cannot take the examples. [*data.MismatchError] names a class,
// column or target whose index in the data set differs from that in the validation set, or in the
// data set that the model was trained with before.
//
// Only one Fit runs at a time: while it runs, a second one returns [ErrBusy]. Other goroutines
// may meanwhile evaluate and apply other models, which does not affect the training. They must
// not use the model that is being trained, since it is in training mode.
func Fit(ctx context.Context, model nn.Module, train *data.Dataset, options ...Option) (*Run, error) {
	settings, err := newOptions(options)
	if missing := interrupt.RequireContext(ctx, "accel: Fit"); missing != nil {
		ctx, err = context.Background(), missing
	}
	if err != nil {
		return &Run{Best: -1}, loop.Reject(ctx, settings.Group, err)
	}
	return loop.Fit(ctx, model, train, settings)
}

func newOptions(given []Option) (*loop.Settings, error) { return optionsIn(inFit, given, nil) }

// optionsIn returns the settings of a training by a function that accepts the options of a scope, with a change, nil for
// none. It returns them also with an error, for the group.
func optionsIn(s scope, given []Option, change func(*loop.Settings)) (*loop.Settings, error) {
	c := &loop.Settings{Workers: defaultWorkers, Accumulate: 1}
	if err := apply(c, s, given); err != nil {
		return c, err
	}
	if change != nil {
		change(c)
	}
	if c.Epochs == 0 && c.Steps == 0 {
		c.Epochs = defaultEpochs
	}
	c.BatchSize = cmp.Or(c.BatchSize, defaultBatchSize)
	if c.Optimizer == nil {
		if err := AdamW(defaultRate).set(c); err != nil {
			return c, err
		}
	}
	if c.Patience > 0 && c.Validate == nil {
		return c, fmt.Errorf("accel: EarlyStopping(%d) needs a validation loss: add Validate(set)", c.Patience)
	}
	if err := c.AddCriterion(); err != nil {
		return c, err
	}
	if len(c.Metrics) > 0 && c.Validate == nil {
		return c, errors.New("accel: Metrics measures a validation set: add Validate(set)")
	}
	if c.EvalEvery > 0 && c.Validate == nil {
		return c, fmt.Errorf("accel: ValidateEvery(%d) needs a data set to validate with: add Validate(set)", c.EvalEvery)
	}
	if c.NeedsValidation && c.Validate == nil {
		return c, errors.New("accel: ReduceLROnPlateau needs a validation loss: add Validate(set)")
	}
	if c.SaveEvery > 0 && c.Checkpoint == "" {
		return c, fmt.Errorf("accel: SaveEvery(%d) needs a file to save to: add Resume(path)", c.SaveEvery)
	}
	if change == nil && c.Group != nil && c.Group.Elastic() && c.Checkpoint == "" {
		return c, errors.New("accel: DataParallel: the ranks of an elastic group change, so they need a file from which they continue: add Resume(path), on a path that all ranks share")
	}
	return c, nil
}

const (
	defaultEpochs    = 5
	defaultBatchSize = 64
	defaultRate      = 1e-3
	defaultWorkers   = 2
)

// Epochs trains for n passes over the data set. The default is 5 unless [Steps] is given; with
// both, training ends at whichever comes first.
func Epochs(n int) Option {
	return count("Epochs", n, func(c *loop.Settings) *int { return &c.Epochs })
}

// Steps trains for n updates of the parameters, over as many epochs as they need.
func Steps(n int) Option {
	return count("Steps", n, func(c *loop.Settings) *int { return &c.Steps })
}

// BatchSize sets the number of examples in a batch; the default is 64. The last batch of an
// epoch may be smaller, unless [DropLast] leaves it out.
//
// For [Predict] and [PredictDataset], it sets how many examples are computed at once, and the default is 512.
// Larger batches are faster until the CPU or the GPU is fully used; smaller ones need less memory.
func BatchSize(n int) Option {
	return count("BatchSize", n, func(c *loop.Settings) *int { return &c.BatchSize }).in(inFit | inPredict | inPredictDataset)
}

// Workers sets the number of goroutines that prepare batches ahead; the default is 2. With 0, a
// batch is prepared when it is needed. The result of training does not depend on n.
func Workers(n int) Option {
	return plain(fmt.Sprintf("Workers(%d)", n), func(c *loop.Settings) { c.Workers = n }).
		require(n >= 0, "the number must be at least 0").perRank()
}

// Accumulate updates the parameters once every n batches, with the gradient of all their
// examples: BatchSize(64) with Accumulate(4) computes what BatchSize(256) does, with a quarter
// of the memory. The last group of an epoch may be smaller; each example still has the same
// weight, for the losses that [DataParallel] names. Layers that use statistics of the batch, such as [nn.BatchNorm], see the small
// batches.
func Accumulate(n int) Option {
	return count("Accumulate", n, func(c *loop.Settings) *int { return &c.Accumulate })
}

// Minimize sets the loss function, which must return the mean over the batch: a loss of package
// nn, such as nn.BCEWithLogits or nn.CrossEntropyLoss(nn.LabelSmoothing(0.1)), or any other
// function. The default is [nn.CrossEntropy] for classes and [nn.MSE] for targets.
func Minimize(loss func(prediction, target *tensor.Tensor) *tensor.Tensor) Option {
	return fitOption("Minimize(loss)", func(c *loop.Settings) error {
		if c.Loss != nil {
			return errors.New("accel: Minimize is given twice, but a training has one loss: add the two losses in one function")
		}
		c.Loss = loss
		return nil
	}).in(inFit|inEvaluate).requireArgument(loss != nil, "the loss function is nil")
}

// Validate measures loss and accuracy on another data set after each epoch, or at the interval
// that [ValidateEvery] sets.
func Validate(set *data.Dataset) Option {
	if set == nil {
		return fitOption("Validate(nil)", nil).require(false, "the data set is nil: check the error returned where it was created")
	}
	text := fmt.Sprintf("Validate(%s)", set.Name())
	return fitOption(text, func(c *loop.Settings) error {
		if c.Validate != nil {
			return fmt.Errorf("accel: Validate(%s) and %s: a training has one validation set; use Evaluate for others", c.Validate.Name(), text)
		}
		c.Validate = set
		return nil
	}).require(set.Len() > 0, "the data set is empty").require(!set.Unlabeled(), "the examples have no labels")
}

// ValidateEvery validates after every given number of steps and at the end, instead of after
// each epoch. It needs [Validate].
func ValidateEvery(steps int) Option {
	return count("ValidateEvery", steps, func(c *loop.Settings) *int { return &c.EvalEvery })
}

// Live draws the run while it goes on, in one output that is updated in place at most twice a
// second. Without arguments it draws loss and accuracy. The metrics of option [Metrics] are drawn
// with them.
func Live(metrics ...Metric) Option {
	text := option.Text("Live", option.Each(metrics)...)
	if len(metrics) == 0 {
		metrics = []Metric{Loss, Accuracy}
	}
	return plain(text, func(c *loop.Settings) { c.Live = metrics }).output()
}

// AfterStep calls a function after every update of the parameters with the number of updates so
// far, including those before the training was resumed. The function may change parameters,
// under [tensor.NoGrad], before anything else reads them, for instance to keep pruned weights
// at zero. If it returns an error, the training ends with it. [Resume] does not save what it keeps.
func AfterStep(do func(updates int) error) Option {
	return plain("AfterStep(do)", func(c *loop.Settings) { c.AfterStep = append(c.AfterStep, do) }).requireArgument(do != nil, "the function is nil")
}

// EMA updates an average of the parameters, made by [optim.NewEMA] for the model, after every update of
// these, and [Resume] saves it. [Validate] measures the model with the average, so that [BestBy],
// [EarlyStopping] and schedules judge it and [SaveBest] saves it; [ValidateParameters] measures the
// parameters themselves. After the training the model has its parameters, or with EarlyStopping the
// best average. See [optim.EMA] for how to use the average.
func EMA(average *optim.EMA) Option {
	return fitOption("EMA(average)", func(c *loop.Settings) error {
		if c.Average != nil {
			return errors.New("accel: EMA: there are two averages")
		}
		c.Average = average
		return nil
	}).requireArgument(average != nil, "the average is nil: make it with optim.NewEMA")
}

// ValidateParameters makes [Validate], [BestBy], [EarlyStopping] and [SaveBest] use the parameters of a
// training with [EMA] instead of their average.
func ValidateParameters() Option {
	return plain("ValidateParameters()", func(c *loop.Settings) { c.ValidateParameters = true })
}

// StopWhen ends the training when the function returns true. Fit calls it after every step and
// every validation with the run so far, which it must not change. The newest step may be
// missing from the run, since losses are read one step late.
func StopWhen(done func(*Run) bool) Option {
	return plain("StopWhen(done)", func(c *loop.Settings) {
		before := c.Stop
		c.Stop = func(r *Run) bool { return before != nil && before(r) || done(r) }
	}).requireArgument(done != nil, "the function is nil")
}

// Quiet displays nothing while training, not even a line of progress.
func Quiet() Option {
	return plain("Quiet()", func(c *loop.Settings) { c.Quiet = true }).output()
}

// AMP trains with automatic mixed precision, as PyTorch's autocast does: matrix multiplications
// are computed in 16-bit floats, operations that need the range or precision of float32 in
// float32 (see [tensor.Autocast]), in layers as well as in a model's own computations. The
// parameters stay float32.
//
// With FP16 the loss is scaled ([optim.GradScaler]). A step whose gradients overflow is skipped
// and does not advance the schedule. The device decides that; the host and the schedule learn
// of it one step later. Run.Steps has the scale of each step, and the metric [LossScale] draws
// it. With FP8 the matrix multiplications of linear layers whose numbers of features are
// multiples of 16 use 8-bit floats. It needs a GPU of compute capability 8.9 or later.
//
// Without an argument the device decides: a GPU computes in BF16; the CPU, which has no 16-bit
// matrix multiplication, computes in float32 and adds a note to the run. With an argument the
// CPU rounds as a GPU would, so that the training result is that of a GPU, but slower than in
// float32. Validation uses the same precision; after Fit the model computes in float32 again.
func AMP(precision ...Precision) Option {
	text := "AMP()"
	if len(precision) > 0 {
		text = fmt.Sprintf("AMP(%v)", precision[0])
	}
	return fitOption(text, func(c *loop.Settings) error {
		c.Amp, c.Precision = true, 0
		switch {
		case len(precision) == 0:
			return nil
		case len(precision) == 1 && precision[0] >= BF16 && precision[0] <= FP8:
			c.Precision = loop.Precision(precision[0])
			return nil
		}
		return fmt.Errorf("accel: %s: the precision must be BF16, FP16 or FP8, or be left out", text)
	})
}

// Observe registers an observer of the training. With several observers, each event goes to all
// of them in the order in which they were given. With [DataParallel] every rank calls its own
// observers, and all ranks stop if one observer stops.
func Observe(o Observer) Option {
	return plain(fmt.Sprintf("Observe(%T)", o), func(c *loop.Settings) { c.Observers = append(c.Observers, o) }).
		requireArgument(o != nil, "the observer is nil")
}

// Metrics measures metrics besides the loss: in [Evaluate], and in [Fit] with each validation,
// which needs [Validate]. They appear in the history, the figures, the table of epochs, the
// [Card], and in the files of [Track] and [TensorBoard]. Classifiers always have the accuracy.
//
//	accel.Metrics(metrics.F1(metrics.Macro), metrics.ROCAUC())
//
// A metric without a value, such as the ROC AUC of a class that the data set does not have, is an
// error that wraps [*metrics.UndefinedError]. If a prediction is NaN, metrics are NaN, as the
// loss.
func Metrics(all ...metrics.Metric) Option {
	text := option.Text("Metrics", option.Each(all)...)
	return fitOption(text, func(c *loop.Settings) error {
		for _, m := range all {
			if err := c.AddMetric(m); err != nil {
				return fmt.Errorf("accel: %s: %w", text, err)
			}
		}
		return nil
	}).in(inFit | inEvaluate)
}

// BestBy selects the best validation by a metric instead of the loss, for Run.Best,
// [EarlyStopping] and [SaveBest]: the highest value, or the lowest for a metric such as an error.
// It measures the metric with each validation, as [Metrics] does. The metric needs one value, so
// per class is not possible.
func BestBy(metric metrics.Metric) Option {
	text := fmt.Sprintf("BestBy(%v)", metric)
	return fitOption(text, func(c *loop.Settings) error {
		if c.Criterion.Name != "" {
			return fmt.Errorf("accel: BestBy(%s) and %s: a training has one criterion", c.Criterion.Name, text)
		}
		if err := metric.Valid(); err != nil {
			return fmt.Errorf("accel: %s: %w", text, err)
		}
		c.Criterion = loop.Criterion{Name: metric.Name(), Lower: metric.LowerIsBetter()}
		c.BestBy = &metric
		return nil
	})
}

// EarlyStopping ends the training when no validation has been better than the best one for patience
// validations in a row, and restores the weights of the best validation: the one with the lowest
// loss, or see [BestBy]. With [EMA] these are the average of that validation, which the EMA has then too.
func EarlyStopping(patience int) Option {
	return count("EarlyStopping", patience, func(c *loop.Settings) *int { return &c.Patience })
}

// NoChecks leaves out the notes on typical mistakes that Fit adds to [Run.Notes]: see [Check].
func NoChecks() Option {
	return plain("NoChecks()", func(c *loop.Settings) { c.Unexamined = true }).output()
}

// Recompute trains with less memory: each chain of modules ([nn.Sequential]) in the model is
// split into parts that keep only their input; the backward pass computes their activations
// again (gradient checkpointing; see [nn.SetRecompute]). The result of training is the same bit
// for bit, including dropout, and a step takes about a third longer. Layers without parameters
// get them from one example before the training begins. Fit fails if the model has no chain
// that can be split; use [nn.Recompute] in such a model.
//
// To save a training to a file, use [Resume].
func Recompute() Option {
	return plain("Recompute()", func(c *loop.Settings) { c.Recompute = true })
}

// Precision is a floating-point type for [AMP].
type Precision uint8

// The precisions of mixed-precision training.
const (
	BF16 = Precision(loop.BF16) // the range of float32 with 8 bits of precision
	FP16 = Precision(loop.FP16) // 11 bits of precision, from 6e-8 to 65 504
	FP8  = Precision(loop.FP8)  // 8-bit floats in linear layers, BF16 elsewhere: see [tensor.AutocastFP8]
)

// String returns the name of the constant.
func (p Precision) String() string { return loop.Precision(p).String() }

// ZeRO makes the ranks of [DataParallel] divide, among themselves, what each of them otherwise has as a
// whole (Rajbhandari et al., 2020; PyTorch's FSDP):
//
//	1  the state of the optimizer, such as the running means of AdamW
//	2  also the gradients
//	3  also the parameters, which are gathered layer by layer when they are needed; the backward pass
//	   computes the activations again
//
// The result is the same up to rounding. After Fit the model is whole on all ranks, unless one of them
// has failed. With stage 3, the parameters are NaN between steps, where functions of [AfterStep] and observers of steps would see
// them; validations and what follows them see the model. The optimizer must be one that updates each
// element on its own, such as AdamW or SGD, but not LAMB or Muon. [Resume] saves whole tensors, which rank 0 gathers, so that another
// number of ranks, or one without ZeRO, can continue. With stage 3 the average of [EMA] is divided, too, and empty between steps. For
// tensor and pipeline parallelism and for checkpoints see [parallel.Distribute].
func ZeRO(stage int) Option {
	return plain(fmt.Sprintf("ZeRO(%d)", stage), func(c *loop.Settings) { c.ZeRO = stage }).
		require(stage >= 1 && stage <= 3, "the stage must be 1, 2 or 3")
}

// DataParallel trains on all ranks of a group together, on several GPUs or several machines.
// Each rank calls Fit with the same model, data set and options.
//
// Up to rounding, the result is that of one process: each batch is divided among the ranks, so
// [BatchSize] is the number of examples of all ranks together, and the gradients are added over
// all ranks (all-reduce) while the rest of the backward pass is computed. In an epoch each
// example is used once, by one rank; if the last batch cannot be divided evenly, its gradients
// are weighted by examples. Loss and accuracy are those of all ranks, and validation is divided
// as well. Decisions such as a skipped step, an early end or StopWhen on one rank apply to all
// ranks. All ranks start with the weights of rank 0. With [Accumulate] gradients are exchanged
// once a step.
//
// The result is that of one process for a loss that is a mean over the examples, or, like nn.CrossEntropyLoss with weights of classes and
// nn.WeightedMean, over their weights. That of other losses differs: of the sum of a loss that divides by weights and another term, or of two
// of them, and of a function of a mean, such as its root.
//
// Random numbers in layers, such as those of Dropout, and of [Mixup] and [CutMix] differ between ranks. nn.BatchNorm
// normalizes with the rank's part of the batch, as with PyTorch's DistributedDataParallel, and
// validation uses the running means of rank 0; nn.SyncBatchNorm normalizes with the batch of
// all ranks, as one process does.
//
// Rank 0 draws the figure and writes the files of [Resume], [TensorBoard] and [Track]. A
// training may be resumed with a different number of ranks; only rank 0 needs the file.
//
// When the context of a rank is done, all ranks stop after the same step. When a rank fails or
// its process dies, the others fail with a [*parallel.LostError], and the group cannot be used
// any more. [parallel.Elastic] then goes on with the other ranks.
//
// With [Evaluate] and [PredictDataset], all ranks call the function with the same model and data set, which is
// verified; each computes a part of the examples, and all get the result of all examples.
func DataParallel(group *parallel.Group) Option {
	return fitOption("DataParallel(group)", func(c *loop.Settings) error {
		if err := group.Err(); err != nil {
			return fmt.Errorf("accel: DataParallel(group): %w", err)
		}
		c.Group = group
		return nil
	}).in(inFit|inEvaluate|inPredictDataset).requireArgument(group != nil, "the group is nil: check the error of parallel.Join")
}
