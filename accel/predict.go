package accel

import (
	"context"
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/loop"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

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
