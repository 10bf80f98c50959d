package accel

import "github.com/quernlab/quern/accel/nn"

// EarlyStopping ends training when the validation loss has not fallen for patience
// validations in a row, and leaves the model with the weights of the best one.
func EarlyStopping(patience int) Option {
	return count("EarlyStopping", patience, func(c *options) *int { return &c.patience })
}

// earlyStopping keeps the best weights and ends the training when it runs out of
// patience.
type earlyStopping struct {
	ownObserver
	patience int
	model    nn.Module
	best     weights // of the best check; none before the first
}

// Begin ends a training that had already run out of patience when it was saved.
func (e *earlyStopping) Begin(t *Training) error { return e.verdict(t.Run) }

// Validation copies the weights of the best validation so far.
func (e *earlyStopping) Validation(t *Training, _ Validation) error {
	if t.Run.Best == len(t.Run.Validations)-1 {
		e.best = copyWeights(e.model)
	}
	return e.verdict(t.Run)
}

// verdict is ErrStop when the patience is over.
func (e *earlyStopping) verdict(r *Run) error {
	if e.over(r) {
		return ErrStop
	}
	return nil
}

func (e *earlyStopping) over(r *Run) bool { return len(r.Validations)-1-r.Best >= e.patience }

// End restores the best weights.
func (e *earlyStopping) End(t *Training, _ error) {
	r := t.Run
	if e.over(r) {
		r.note("stopped early: the validation loss has not fallen in %s", plural(e.patience, "validation"))
	}
	if e.best.none() || r.Best == len(r.Validations)-1 && r.checked() {
		return
	}
	best := r.Validations[r.Best]
	if err := nn.SetState(e.model, e.best.tensors); err != nil {
		r.note("the best weights could not be restored: %v", err)
		return
	}
	r.restored = true
	r.note("the model has the weights of epoch %d, step %d, with the lowest validation loss", best.Epoch, best.Step)
}

// plateau tells a schedule that depends on them of the validation losses.
type plateau struct {
	ownObserver
	observe func(loss float64)
}

// Begin observes the validations of a training that is resumed.
func (p *plateau) Begin(t *Training) error {
	for _, c := range t.Run.Validations {
		p.observe(c.Loss)
	}
	return nil
}

// Validation observes a validation.
func (p *plateau) Validation(_ *Training, c Validation) error {
	p.observe(c.Loss)
	return nil
}
