package loop

import (
	"context"
	"errors"

	"github.com/quernlab/quern/accel/history"
)

// recording connects an output to a training. If the output fails, on a full disk for
// instance, it is closed, a note is added to the run, and the training continues.
type recording struct {
	history.NopObserver
	record *history.Recorder
	open   func(*history.Run) (history.Output, error)
	output history.Output // nil before Begin and after an error
}

// recordings returns the observers that show and save the run, as the options ask for.
func (c *Settings) recordings(ctx context.Context, record *history.Recorder) (all []history.Observer) {
	add := func(open func(*history.Run) (history.Output, error)) {
		all = append(all, &recording{record: record, open: open})
	}
	switch {
	case len(c.Live) > 0:
		add(func(r *history.Run) (history.Output, error) { return history.Live(ctx, r), nil })
	case !c.Quiet:
		add(func(*history.Run) (history.Output, error) { return history.Line(), nil })
	}
	if c.measuresEnergy() {
		add(func(*history.Run) (history.Output, error) { return history.Meter(ctx), nil })
	}
	if c.TensorBoard != "" {
		add(func(*history.Run) (history.Output, error) { return history.TensorBoard(c.TensorBoard) })
	}
	if c.Track != "" {
		add(func(r *history.Run) (history.Output, error) { return history.Track(c.Track, c.Label, r) })
	}
	if c.SaveBest != "" {
		all = append(all, &bestFile{path: c.SaveBest, judged: c.judged()})
	}
	return all
}

// Begin opens the output.
func (w *recording) Begin(t *history.Training) (err error) {
	opened, err := w.open(t.Run)
	if err == nil {
		w.output = opened
	}
	return err
}

// Step shows or saves a step.
func (w *recording) Step(t *history.Training, _ history.Step) error { return w.update(t.Run) }

// Validation shows or saves a validation.
func (w *recording) Validation(t *history.Training, _ history.Validation) error {
	return w.update(t.Run)
}

func (w *recording) update(r *history.Run) error {
	if w.output == nil {
		return nil
	}
	if err := w.output.Update(r); err != nil {
		w.record.Note("recording stopped: %v", errors.Join(err, w.output.Close(r, nil)))
		w.output = nil
	}
	return nil
}

// End shows or saves the rest.
func (w *recording) End(t *history.Training, err error) {
	if w.output == nil {
		return
	}
	if err := w.output.Close(t.Run, err); err != nil {
		w.record.Note("could not record the end of the run: %v", err)
	}
	w.output = nil
}
