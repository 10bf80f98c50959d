package accel

import (
	"context"
	"errors"
)

// Status says how a run that [Track] kept has ended.
type Status string

// The states of a run.
const (
	Finished    Status = "finished"
	Interrupted Status = "interrupted" // by its context
	Diverged    Status = "diverged"    // its loss was no number any more
	Failed      Status = "failed"      // with another error
	Unfinished  Status = "unfinished"  // it goes on, or its process was killed
	Unreadable  Status = "unreadable"  // a file of it is none that Track writes
)

// statusOf returns the status of a run that ended with this error.
func statusOf(err error) Status {
	var diverged *DivergedError
	switch {
	case err == nil:
		return Finished
	case errors.As(err, &diverged):
		return Diverged
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Interrupted
	}
	return Failed
}
