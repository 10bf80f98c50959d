package active

import (
	"errors"
	"fmt"
)

// ErrNoPool is returned if a pool is nil, is closed or could not be created; the error that
// wraps it gives the reason.
var ErrNoPool = errors.New("active: the pool cannot be used")

// ErrNoDropout is returned if a strategy needs an ensemble, but the model has no Dropout.
var ErrNoDropout = errors.New("active: the model has no Dropout layers, which the ensemble needs: add nn.Dropout, or use Margin")

// TooFewError is returned if more examples are requested than are unlabeled.
type TooFewError struct {
	Asked int // requested
	Left  int // unlabeled
}

// Error says how many examples were requested and how many are unlabeled.
func (e *TooFewError) Error() string {
	if e.Left == 0 {
		return fmt.Sprintf("active: %d examples were requested, but all are labeled", e.Asked)
	}
	return fmt.Sprintf("active: %d examples were requested, but only %d are unlabeled", e.Asked, e.Left)
}

// OneClassError is returned if there is only one class, so that the uncertainty of a model is
// meaningless.
type OneClassError struct {
	Class   string // its name
	Labeled int    // number of examples, all of this class; 0 if the data set itself has one class
}

// Error names the class and says what to do.
func (e *OneClassError) Error() string {
	if e.Labeled == 0 {
		return fmt.Sprintf("active: the data set has only the class %q, so labels are not needed", e.Class)
	}
	return fmt.Sprintf("active: all %d labels are of class %q, so the model cannot be uncertain: first label examples selected by Random or TypiClust", e.Labeled, e.Class)
}

// NotFiniteError is returned if the output of a model or a score for an example is NaN or
// infinite.
type NotFiniteError struct {
	What    string // what is not finite
	Example int    // index in the pool's data set
}

// Error names the example and says what to do.
func (e *NotFiniteError) Error() string {
	return fmt.Sprintf("active: %s of example %d is not finite: check whether training has diverged or the example contains NaN", e.What, e.Example)
}

// LabelError is returned if an example cannot have a label. No label of the call has been
// stored.
type LabelError struct {
	Example int    // index in the pool's data set
	Label   int    // class that was given; 0 if Problem is not about a class
	Problem string // why the example cannot have it
}

// Error names the example, the label and the problem.
func (e *LabelError) Error() string {
	return fmt.Sprintf("active: label %d of example %d: %s", e.Label, e.Example, e.Problem)
}

// SessionError is returned if the file of a labeling session cannot be read or written, or
// does not belong to the data set. Labels that could not be written have not been stored;
// earlier ones are in the file and in the pool.
type SessionError struct {
	Path string // of the session's file
	Err  error  // why it cannot be used
}

// Error names the file and the reason.
func (e *SessionError) Error() string {
	return fmt.Sprintf("active: labeling session %s: %v", e.Path, e.Err)
}

// Unwrap returns the reason.
func (e *SessionError) Unwrap() error { return e.Err }
