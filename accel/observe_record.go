package accel

import (
	"errors"
	"time"
)

// recorder writes a run to files while the training goes on.
type recorder interface {
	// offer writes what is new in the run.
	offer(*Run) error
	// close writes the rest, with the error that ended the training, nil for none.
	close(*Run, error) error
}

// recording connects a recorder to a training. If the recorder fails, on a full disk for
// instance, it is closed, a note is added to the run, and the training continues.
type recording struct {
	ownObserver
	open     func(r *Run, now time.Time) (recorder, error)
	recorder recorder // nil before Begin and after an error
}

// recordings returns the recordings that the options ask for.
func (c *options) recordings() (all []Observer) {
	if c.tensorBoard != "" {
		all = append(all, &recording{open: func(_ *Run, now time.Time) (recorder, error) { return newEvents(c.tensorBoard, now) }})
	}
	if c.track != "" {
		all = append(all, &recording{open: func(r *Run, now time.Time) (recorder, error) { return newTracker(c.track, c.label, r, now) }})
	}
	if c.saveBest != "" {
		all = append(all, &bestFile{path: c.saveBest, judged: c.judged()})
	}
	return all
}

// Begin creates the files.
func (w *recording) Begin(t *Training) error {
	made, err := w.open(t.Run, time.Now())
	if err == nil {
		w.recorder = made
	}
	return err
}

// Step writes a step.
func (w *recording) Step(t *Training, _ Step) error { return w.offer(t.Run) }

// Validation writes a validation.
func (w *recording) Validation(t *Training, _ Validation) error { return w.offer(t.Run) }

func (w *recording) offer(r *Run) error {
	if w.recorder == nil {
		return nil
	}
	if err := w.recorder.offer(r); err != nil {
		r.note("recording stopped: %v", errors.Join(err, w.recorder.close(r, nil)))
		w.recorder = nil
	}
	return nil
}

// End writes the rest.
func (w *recording) End(t *Training, err error) {
	if w.recorder == nil {
		return
	}
	if err := w.recorder.close(t.Run, err); err != nil {
		t.Run.note("could not record the end of the run: %v", err)
	}
	w.recorder = nil
}
