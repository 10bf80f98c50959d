package accel

import (
	"errors"
	"time"
)

// recorder writes a run somewhere while it goes on.
type recorder interface {
	// offer writes what has come to the run since the last time.
	offer(*Run) error
	// close writes the rest, and with what error training ended, nil for none.
	close(*Run, error) error
}

// recorders are those that the options ask for. With an error none is open.
func (c *options) recorders(r *Run, now time.Time) (logs []recorder, err error) {
	if c.tensorBoard != "" {
		e, err := newEvents(c.tensorBoard, now)
		if err != nil {
			return nil, err
		}
		logs = append(logs, e)
	}
	if c.track != "" {
		t, err := newTracker(c.track, c.label, r, now)
		if err != nil {
			for _, log := range logs {
				err = errors.Join(err, log.close(r, err))
			}
			return nil, err
		}
		logs = append(logs, t)
	}
	return logs, nil
}

// log offers the run to its recorders. One that fails, on a full disk say, is
// let go with a note: the training goes on.
func (f *fitting) log() {
	kept := f.logs[:0]
	for _, l := range f.logs {
		err := l.offer(f.run)
		if err == nil {
			kept = append(kept, l)
			continue
		}
		f.run.note("no more was written: %v", errors.Join(err, l.close(f.run, nil)))
	}
	f.logs = kept
}

// closeLogs ends the recorders.
func (f *fitting) closeLogs(err error) {
	for _, l := range f.logs {
		if err := l.close(f.run, err); err != nil {
			f.run.note("the end of the run was not written: %v", err)
		}
	}
	f.logs = nil
}
