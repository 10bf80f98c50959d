package accel

import (
	"context"
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/loop"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Evaluate measures the loss of a model on a data set, the accuracy of a classifier, and the
// metrics of option [Metrics]. A model has an accuracy if it returns a score for each class of the data
// set, [N, C] or [N, T, C]; embeddings and what [nn.Pack] returns have none. The loss is the one
// that the model was trained with (see [Minimize]); for a model that was not trained it is
// [nn.CrossEntropy] for classes and [nn.MSE] for targets. The accuracy of sequences is that of
// their tokens. The model is in evaluation mode during the call.
//
// A loss that is NaN or infinite is not an error; the result names the first example or tensor
// of the model that is not finite. Errors are those of [Fit]; a data set whose classes, columns
// or targets differ from those of the training is a [*data.MismatchError]. A call that takes
// longer than a second displays a progress bar. A model that was trained on other labels, such as the
// probabilities of a teacher instead of classes, needs option Minimize.
//
// Evaluate accepts the options Minimize, [Metrics], [DerivedFrom] and [DataParallel]. With DataParallel
// all ranks call it with the same model and data set; each measures a part of the examples, and
// all get the result for the whole data set. Ranks whose models or data sets differ get an
// error.
func Evaluate(ctx context.Context, model nn.Module, set *data.Dataset, options ...Option) (result *Result, err error) {
	o := &loop.Settings{}
	err = apply(o, inEvaluate, options)
	if missing := interrupt.RequireContext(ctx, "accel: Evaluate"); missing != nil {
		ctx, err = context.Background(), missing
	}
	switch {
	case err != nil:
	case model == nil:
		err = errors.New("accel: Evaluate: the model is nil")
	case set == nil:
		err = errors.New("accel: Evaluate: the data set is nil: check the error returned where it was created")
	case set.Len() == 0:
		err = fmt.Errorf("accel: Evaluate: %s is empty", set.Name())
	case set.Unlabeled():
		err = fmt.Errorf("accel: Evaluate: the examples of %s have no labels", set.Name())
	}
	if err != nil {
		return nil, loop.Reject(ctx, o.Group, err)
	}
	return loop.Evaluate(ctx, model, set, o)
}

// SchemaOf returns the meaning of the labels and columns that a model was trained with, such as
// the names of its classes by index. nn.Save and nn.Load keep it. ok is false if it is unknown:
// before the first training, and if a part of the model comes from another training.
func SchemaOf(model nn.Module) (schema data.Schema, ok bool) {
	if t := loop.TrainedWith(model); t != nil {
		return t.Schema, true
	}
	return data.Schema{}, false
}

// DerivedFrom tells [Evaluate] that the model was made from another one, such as by
// quantization or pruning: it uses the loss that the original was trained with, and checks the
// data set against the original's training set.
func DerivedFrom(other nn.Module) Option {
	return plain("DerivedFrom(original)", func(c *loop.Settings) { c.DerivedFrom = other }).in(inEvaluate).
		requireArgument(other != nil, "the model is nil")
}

// Progress makes [Predict] and [PredictDataset] call a function with the number of examples computed so far and the
// number of all examples. Without it, a call that takes longer than a second displays a progress bar.
// With [DataParallel] it reports the rank's own part.
func Progress(report func(done, all int)) Option {
	return plain("Progress(…)", func(c *loop.Settings) { c.Report = report }).in(inPredict | inPredictDataset)
}

// Predict returns the output of the model for x, whose first dimension is the batch of
// examples. The output of a classifier is logits [N, C]: ArgMax(1) returns the classes and
// Softmax(1) the probabilities. The model is in evaluation mode during the call.
//
// Predict computes a large x in parts (see [BatchSize]), and in smaller ones when memory
// runs out. The output of an example does not depend on its part, except for the order of
// floating-point additions, since the model must not mix examples. When ctx is done, Predict
// returns its error after the current part. Other errors are those of [Fit].
func Predict(ctx context.Context, model nn.Module, x *tensor.Tensor, options ...Option) (y *tensor.Tensor, err error) {
	if err := interrupt.RequireContext(ctx, "accel: Predict"); err != nil {
		return nil, err
	}
	switch {
	case model == nil:
		return nil, errors.New("accel: Predict: the model is nil")
	case x == nil:
		return nil, errors.New("accel: Predict: the input is nil")
	case x.NDim() == 0:
		return nil, errors.New("accel: Predict: the input is a scalar, but its first dimension must be the batch of examples")
	}
	c := &loop.Settings{}
	if err := apply(c, inPredict, options); err != nil {
		return nil, err
	}
	return loop.NewPrediction("Predict", model, c).Tensor(ctx, x)
}

// PredictDataset is [Predict] for the examples of a data set, in order, without their labels.
// It does not load the whole data set into memory. Outputs for each position of sequences of
// different lengths, [N, T, …], are padded with zeros to the longest one. A data set whose columns differ from those
// that the model was trained with is a [*data.MismatchError]. [DataParallel] divides the examples among ranks.
func PredictDataset(ctx context.Context, model nn.Module, set *data.Dataset, options ...Option) (y *tensor.Tensor, err error) {
	c := &loop.Settings{}
	err = apply(c, inPredictDataset, options)
	if missing := interrupt.RequireContext(ctx, "accel: PredictDataset"); missing != nil {
		ctx, err = context.Background(), missing
	}
	switch {
	case err != nil:
	case model == nil:
		err = errors.New("accel: PredictDataset: the model is nil")
	case set == nil:
		err = errors.New("accel: PredictDataset: the data set is nil: check the error returned where it was created")
	case set.Len() == 0:
		err = fmt.Errorf("accel: PredictDataset: %s is empty", set.Name())
	}
	if err != nil {
		return nil, loop.Reject(ctx, c.Group, err)
	}
	return loop.NewPrediction("PredictDataset", model, c).Dataset(ctx, set)
}
