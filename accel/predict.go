package accel

import (
	"context"
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/loop"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/tensor"
)

// PredictOption changes how [Predict] and [PredictDataset] work.
type PredictOption struct {
	text string
	set  func(*loop.Prediction) error
}

// String returns the option as Go code.
func (o PredictOption) String() string { return o.text }

// PredictBatchSize sets how many examples are computed at once; the default is 512. Larger
// batches are faster until the CPU or the GPU is fully used; smaller ones need less memory.
func PredictBatchSize(examples int) PredictOption {
	text := fmt.Sprintf("PredictBatchSize(%d)", examples)
	return PredictOption{text, func(p *loop.Prediction) error {
		if examples < 1 {
			return fmt.Errorf("accel: %s: the batch size must be at least 1", text)
		}
		p.BatchSize = examples
		return nil
	}}
}

// Progress sets a function that is called with the number of examples computed so far and the
// number of all examples. Without it, a call that takes longer than a second displays a
// progress bar.
func Progress(report func(done, all int)) PredictOption {
	return PredictOption{"Progress(…)", func(p *loop.Prediction) error {
		p.Report = report
		return nil
	}}
}

// PredictParallel divides the examples of a data set among the ranks of a group. All ranks call
// [PredictDataset] with the same model and data set, which is verified, and all get the outputs
// of all examples. [Progress] then reports the rank's own part. [Predict] rejects this option.
func PredictParallel(group *parallel.Group) PredictOption {
	return PredictOption{"PredictParallel(group)", func(p *loop.Prediction) error {
		if group == nil {
			return errors.New("accel: PredictParallel(nil): the group is nil: check the error of parallel.Join")
		}
		p.Group = group
		return nil
	}}
}

// Predict returns the output of the model for x, whose first dimension is the batch of
// examples. The output of a classifier is logits [N, C]: ArgMax(1) returns the classes and
// Softmax(1) the probabilities. The model is in evaluation mode during the call.
//
// Predict computes a large x in parts (see [PredictBatchSize]), and in smaller ones when memory
// runs out. The output of an example does not depend on its part, except for the order of
// floating-point additions, since the model must not mix examples. When ctx is done, Predict
// returns its error after the current part. Other errors are those of [Fit].
func Predict(ctx context.Context, model nn.Module, x *tensor.Tensor, options ...PredictOption) (y *tensor.Tensor, err error) {
	switch {
	case model == nil:
		return nil, errors.New("accel: Predict: the model is nil")
	case x == nil:
		return nil, errors.New("accel: Predict: the input is nil")
	case x.NDim() == 0:
		return nil, errors.New("accel: Predict: the input is a scalar, but its first dimension must be the batch of examples")
	}
	p, err := newPrediction("Predict", model, x.Size(0), options)
	if err != nil {
		return nil, err
	}
	if p.Group != nil {
		return nil, errors.New("accel: Predict: PredictParallel needs PredictDataset, which verifies that all ranks have the same examples")
	}
	return p.Tensor(ctx, x)
}

// PredictDataset is [Predict] for the examples of a data set, in order, without their labels.
// It does not load the whole data set into memory. Outputs for each position of sequences of
// different lengths, [N, T, …], are padded with zeros to the longest one. A data set whose columns differ from those
// that the model was trained with is a [*data.MismatchError].
func PredictDataset(ctx context.Context, model nn.Module, set *data.Dataset, options ...PredictOption) (y *tensor.Tensor, err error) {
	p, err := newPrediction("PredictDataset", model, 0, options)
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
		return nil, loop.Reject(ctx, p.Group, err)
	}
	return p.Dataset(ctx, set)
}

// newPrediction returns the settings also with an error.
func newPrediction(call string, model nn.Module, all int, options []PredictOption) (_ *loop.Prediction, err error) {
	p := loop.NewPrediction(call, model, all)
	for _, o := range options {
		if o.set == nil {
			continue
		}
		if failed := o.set(p); err == nil { // an option that follows may name the group, whose other ranks wait for this one
			err = failed
		}
	}
	return p, err
}
