package loop

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/internal/quantity"
)

// earlyStopping keeps the best weights, and ends the training when the loss stops falling.
type earlyStopping struct {
	history.NopObserver
	record    *history.Recorder
	patience  int
	criterion Criterion
	judged    judged
	best      Weights // weights of the best validation; none before the first
}

// Begin ends a training whose patience was already exhausted when it was saved.
func (e *earlyStopping) Begin(t *history.Training) error { return e.stopIfOver(t.Run) }

// Validation copies the weights of the best validation so far.
func (e *earlyStopping) Validation(t *history.Training, _ history.Validation) error {
	if t.Run.Best == len(t.Run.Validations)-1 {
		restore := e.judged.use()
		e.best = CopyWeights(t.Model)
		restore()
	}
	return e.stopIfOver(t.Run)
}

// stopIfOver returns ErrStop if the patience is exhausted.
func (e *earlyStopping) stopIfOver(r *history.Run) error {
	if e.exhausted(r) {
		return history.ErrStop
	}
	return nil
}

func (e *earlyStopping) exhausted(r *history.Run) bool {
	return len(r.Validations)-1-r.Best >= e.patience
}

// End restores the best weights.
func (e *earlyStopping) End(t *history.Training, _ error) {
	r := t.Run
	if e.exhausted(r) {
		e.record.Note("stopped early: %s in %s", e.criterion.unimproved(), quantity.Plural(e.patience, "validation"))
	}
	if e.best.none() || e.judged.average == nil && r.Best == len(r.Validations)-1 && validated(r) {
		return
	}
	best, what := r.Validations[r.Best], "weights"
	err := nn.SetState(t.Model, e.best.tensors)
	if e.judged.average != nil && err == nil {
		averages := map[string]*tensor.Tensor{}
		for name := range e.judged.average.State() {
			averages[name] = e.best.tensors[name]
		}
		what, err = "average (EMA)", e.judged.average.SetState(averages)
	}
	if err != nil {
		e.record.Note("could not restore the best weights: %v", err)
		return
	}
	e.record.Restored()
	e.record.Note("the model has the %s of epoch %d, step %d, with %v", what, best.Epoch, best.Step, e.criterion)
}

// plateau passes validation losses to a schedule that depends on them.
type plateau struct {
	history.NopObserver
	observe func(loss float64)
}

// Begin passes on the validations before the training was resumed.
func (p *plateau) Begin(t *history.Training) error {
	for _, c := range t.Run.Validations {
		p.observe(c.Loss)
	}
	return nil
}

// Validation passes on a validation.
func (p *plateau) Validation(_ *history.Training, c history.Validation) error {
	p.observe(c.Loss)
	return nil
}

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
