package accel

import (
	"context"
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/loop"
	"github.com/quernlab/quern/accel/nn"
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
	return fitOption("DerivedFrom(original)", func(c *loop.Settings) error {
		if other == nil {
			return errors.New("accel: DerivedFrom(nil): the model is nil")
		}
		c.DerivedFrom = other
		return nil
	}).in(inEvaluate)
}
