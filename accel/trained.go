package accel

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
)

// training is what a model was trained with, as its tensors remember it. It holds no
// examples.
type training struct {
	schema data.Schema
	loss   func(prediction, target *Tensor) *Tensor
}

// remember notes what a model was trained with.
func (t *training) remember(model nn.Module) {
	for _, p := range nn.State(model) {
		p.SetMetadata(t)
	}
}

// trainedWith returns what a model was last trained with, nil where that is not known: before
// its first training, after nn.Load, and of a model that is composed of several.
func trainedWith(model nn.Module) *training {
	var found *training
	for i, p := range nn.State(model) {
		t, _ := p.Metadata().(*training)
		if t == nil || i > 0 && t != found {
			return nil
		}
		found = t
	}
	return found
}

// DerivedFrom has [Evaluate] measure a model as another one, with the loss of that one's training
// and on a set that suits it: for a model that was made of the other, such as a quantised
// or pruned one.
func DerivedFrom(other nn.Module) Option {
	return fitOption("DerivedFrom(original)", func(c *options) error {
		if other == nil {
			return errors.New("accel: DerivedFrom(nil): the model is nil")
		}
		c.like = other
		return nil
	}).in(inEvaluate)
}

// lossFor returns the loss by which a model is evaluated on a set: the one that was asked for,
// else that of the model's training, else the default. It fails where the set's labels
// mean something else than those of the training.
func (o *options) lossFor(model nn.Module, set *data.Dataset) (func(prediction, target *Tensor) *Tensor, error) {
	if o.like != nil {
		model = o.like
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
