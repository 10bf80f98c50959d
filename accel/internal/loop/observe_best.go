package loop

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/nn"
)

// bestFile writes the file of [SaveBest].
type bestFile struct {
	history.NopObserver
	path   string
	judged judged
}

// Validation writes the file after the best validation so far.
func (b *bestFile) Validation(t *history.Training, _ history.Validation) error {
	if t.Run.Best != len(t.Run.Validations)-1 {
		return nil
	}
	tensors := b.judged.state(t.Model)
	if len(tensors) == 0 {
		return errors.New("accel: SaveBest: the model has no parameters")
	}
	record := &TrainingRecord{Schema: t.Dataset.Schema()}
	if err := nn.SaveTensors(b.path, tensors, record.FileNotes()); err != nil {
		return fmt.Errorf("accel: SaveBest: %w", err)
	}
	return nil
}
