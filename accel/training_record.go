package accel

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
)

// trainingRecord is what a model was trained with; its tensors refer to it. It holds no
// examples.
type trainingRecord struct {
	schema data.Schema
	loss   func(prediction, target *Tensor) *Tensor
}

// attach records in the tensors of a model what it was trained with.
func (t *trainingRecord) attach(model nn.Module) {
	for _, p := range nn.State(model) {
		p.SetMetadata(t)
	}
}

// trainedWith returns what a model was last trained with. It is nil if that is unknown: before
// the first training, after nn.Load, and if the model's tensors come from several trainings.
func trainedWith(model nn.Module) *trainingRecord {
	var found *trainingRecord
	for i, p := range nn.State(model) {
		t, _ := p.Metadata().(*trainingRecord)
		if t == nil || i > 0 && t != found {
			return nil
		}
		found = t
	}
	return found
}

// DerivedFrom tells [Evaluate] that the model was made from another one, such as by
// quantization or pruning: it uses the loss that the original was trained with, and checks the
// data set against the original's training set.
func DerivedFrom(other nn.Module) Option {
	return fitOption("DerivedFrom(original)", func(c *options) error {
		if other == nil {
			return errors.New("accel: DerivedFrom(nil): the model is nil")
		}
		c.derivedFrom = other
		return nil
	}).in(inEvaluate)
}

// lossFor returns the loss for evaluating a model: the one of the options, else the one that
// the model was trained with, else the default. It fails if the labels of the data set differ
// in meaning from those of the training set.
func (o *options) lossFor(model nn.Module, set *data.Dataset) (func(prediction, target *Tensor) *Tensor, error) {
	if o.derivedFrom != nil {
		model = o.derivedFrom
	}
	t := trainedWith(model)
	if t != nil {
		if err := t.schema.Check(set); err != nil {
			return nil, fmt.Errorf("accel: Evaluate: %w", err)
		}
	}
	switch {
	case o.loss != nil:
		return o.loss, nil
	case t != nil:
		return t.loss, nil
	}
	return defaultLoss(set), nil
}

func defaultLoss(s *data.Dataset) func(prediction, target *Tensor) *Tensor {
	if s.Targets() > 0 {
		return nn.MSE
	}
	return nn.CrossEntropy
}
