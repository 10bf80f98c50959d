package accel

import (
	"context"
	"errors"
)

// Status is the state of a run that [Track] recorded.
type Status string

// The states of a run.
const (
	Finished    Status = "finished"
	Interrupted Status = "interrupted" // its context was done
	Diverged    Status = "diverged"    // its loss became NaN or infinite
	Failed      Status = "failed"      // it ended with another error
	Unfinished  Status = "unfinished"  // it is still running, or its process was killed
	Unreadable  Status = "unreadable"  // one of its files is damaged or not from Track
)

// statusOf returns the status of a run that ended with err.
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
