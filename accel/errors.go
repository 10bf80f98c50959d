package accel

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/internal/interrupt"
	"github.com/quernlab/quern/accel/tensor"
)

// Tensor is the type of tensors.
type Tensor = tensor.Tensor

// ShapeError reports an operation that cannot take tensors of these shapes.
type ShapeError = tensor.ShapeError

// DeviceError reports that a device cannot do what it was asked for: it does not support an
// operation, a kernel faulted, or the device is gone.
type DeviceError = tensor.DeviceError

// OutOfMemoryError reports that a device could not allocate the requested memory.
type OutOfMemoryError = tensor.OutOfMemoryError

// ErrBusy is returned by [Fit] while another Fit runs.
var ErrBusy = errors.New("accel: Fit: another call of Fit is running: wait until it returns, since only one model is trained at a time")

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

// joinErrors joins two errors, either of which may be nil.
func joinErrors(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case interrupt.Is(a) && interrupt.Is(b):
		return a
	}
	return errors.Join(a, b)
}
