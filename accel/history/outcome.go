package history

import (
	"context"
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/tensor"
)

// DivergedError reports that the loss of a step was NaN or infinite. The model has the weights
// from before that step.
type DivergedError struct {
	Step int     // from 1
	Loss float64 // NaN or infinite
	// Dataset is the name of the training set. Examples are the indices of the examples in the
	// batch that are not finite; empty if all are finite.
	Dataset  string
	Examples []int // in the data set
	// Tensor is the first tensor of the step that is not finite: "example 17 of" with the name
	// of the data set and the position in the example, the name of a model tensor as in
	// nn.State, or "the output of" an op with its layer; "" if it could not be found.
	Tensor string
	// Found has details of Tensor, or is nil.
	Found *tensor.NonFinite
}

// Error names the step, the cause if it was found, and what to try.
func (e *DivergedError) Error() string {
	if len(e.Examples) > 0 {
		return fmt.Sprintf("accel: the loss of step %d is %v because %s: correct the data, or remove such examples", e.Step, e.Loss, e.Tensor)
	}
	where := ""
	if e.Tensor != "" {
		where = fmt.Sprintf("; the first tensor that is not finite is %s", e.Tensor)
	}
	return fmt.Sprintf("accel: the loss of step %d is %v%s: try a lower learning rate, a longer warm-up or ClipGradNorm", e.Step, e.Loss, where)
}

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
