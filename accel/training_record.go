package accel

import (
	"encoding/json"
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

// schemaNote is the key of the schema in the notes of a file.
const schemaNote = "quern.schema"

// FileNotes returns what nn.Save writes to the file of the model: the schema, but no loss, since
// a function cannot be saved.
func (t *trainingRecord) FileNotes() map[string]string {
	text, err := json.Marshal(t.schema)
	if err != nil {
		return nil // a struct of strings and numbers has no such errors
	}
	return map[string]string{schemaNote: string(text)}
}

// trainedWith returns what a model was last trained with. It is nil if that is unknown: before
// the first training, and if the model's tensors come from several trainings. A model that
// nn.Load has read has the schema of its training, but no loss.
func trainedWith(model nn.Module) *trainingRecord {
	switch m := nn.SharedMetadata(model).(type) {
	case *trainingRecord:
		return m
	case *nn.FileNotes:
		t := &trainingRecord{}
		if json.Unmarshal([]byte(m.Notes[schemaNote]), &t.schema) == nil {
			return t
		}
	}
	return nil
}

// SchemaOf returns the meaning of the labels and columns that a model was trained with, such as
// the names of its classes by index. nn.Save and nn.Load keep it. ok is false if it is unknown:
// before the first training, and if a part of the model comes from another training.
func SchemaOf(model nn.Module) (schema data.Schema, ok bool) {
	if t := trainedWith(model); t != nil {
		return t.schema, true
	}
	return data.Schema{}, false
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
// in meaning from those of the training set. With a loss in the options they may be of another kind.
func (o *options) lossFor(model nn.Module, set *data.Dataset) (func(prediction, target *Tensor) *Tensor, error) {
	if o.derivedFrom != nil {
		model = o.derivedFrom
	}
	t := trainedWith(model)
	if t != nil {
		err := t.schema.Check(set)
		if isOtherKind(err) {
			if o.loss == nil {
				return nil, fmt.Errorf("accel: Evaluate: %w, or give the loss for these labels, such as Minimize(nn.CrossEntropy)", err)
			}
			err = t.schema.CheckColumns(set)
		}
		if err != nil {
			return nil, fmt.Errorf("accel: Evaluate: %w", err)
		}
	}
	switch {
	case o.loss != nil:
		return o.loss, nil
	case t != nil && t.loss != nil:
		return t.loss, nil
	}
	return defaultLoss(set), nil
}

// isOtherKind reports whether a data set has labels of another kind than those that a model was trained
// with, such as classes instead of the probabilities of a teacher.
func isOtherKind(err error) bool {
	var mismatch *data.MismatchError
	return errors.As(err, &mismatch) && mismatch.What == "labels"
}

func defaultLoss(s *data.Dataset) func(prediction, target *Tensor) *Tensor {
	if s.Targets() > 0 {
		return nn.MSE
	}
	if s.Ignores() {
		return nn.CrossEntropyLoss(nn.IgnoreIndex(data.Ignored))
	}
	return nn.CrossEntropy
}
