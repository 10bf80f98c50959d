package loop

import (
	"encoding/json"
	"errors"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// TrainingRecord is what a model was trained with; its tensors refer to it. It holds no
// examples.
type TrainingRecord struct {
	Schema data.Schema
	loss   func(prediction, target *tensor.Tensor) *tensor.Tensor
}

// attach records in the tensors of a model what it was trained with.
func (t *TrainingRecord) attach(model nn.Module) {
	for _, p := range nn.State(model) {
		tensors.SetMetadata(p.Tensor, t)
	}
}

// schemaNote is the key of the schema in the notes of a file.
const schemaNote = "quern.schema"

// FileNotes returns what nn.Save writes to the file of the model: the schema, but no loss, since
// a function cannot be saved.
func (t *TrainingRecord) FileNotes() map[string]string {
	text, err := json.Marshal(t.Schema)
	if err != nil {
		return nil // a struct of strings and numbers has no such errors
	}
	return map[string]string{schemaNote: string(text)}
}

// TrainedWith returns what a model was last trained with. It is nil if that is unknown: before
// the first training, and if the model's tensors come from several trainings. A model that
// nn.Load has read has the schema of its training, but no loss.
func TrainedWith(model nn.Module) *TrainingRecord {
	switch m := layer.SharedMetadata(model).(type) {
	case *TrainingRecord:
		return m
	case *layer.FileNotes:
		t := &TrainingRecord{}
		if json.Unmarshal([]byte(m.Notes[schemaNote]), &t.Schema) == nil {
			return t
		}
	}
	return nil
}

// isOtherKind reports whether a data set has labels of another kind than those that a model was trained
// with, such as classes instead of the probabilities of a teacher.
func isOtherKind(err error) bool {
	var mismatch *data.MismatchError
	return errors.As(err, &mismatch) && mismatch.What == "labels"
}

func defaultLoss(s *data.Dataset) func(prediction, target *tensor.Tensor) *tensor.Tensor {
	if s.Targets() > 0 {
		return nn.MSE
	}
	if s.Ignores() {
		return nn.CrossEntropyLoss(nn.IgnoreIndex(data.Ignored))
	}
	return nn.CrossEntropy
}
