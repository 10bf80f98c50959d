package active

import (
	"errors"
	"fmt"
)

// ErrNoPool says that there is no pool, or one that could not be made; the error
// around it says why.
var ErrNoPool = errors.New("active: there is no pool")

// ErrNoDropout says that a strategy needs a model with Dropout, whose members
// can disagree.
var ErrNoDropout = errors.New("active: the model has no Dropout, so there is no ensemble to disagree: add nn.Dropout layers, or use Margin")

// TooFewError says that fewer examples are unlabelled than were asked for.
type TooFewError struct {
	Asked int
	Left  int // unlabelled
}

// Error gives both numbers.
func (e *TooFewError) Error() string {
	if e.Left == 0 {
		return fmt.Sprintf("active: %d examples were asked for, but all are labelled", e.Asked)
	}
	return fmt.Sprintf("active: %d examples were asked for, but %d are unlabelled: ask for at most so many", e.Asked, e.Left)
}

// OneClassError says that a model cannot be asked what it does not know, since
// there is one class only.
type OneClassError struct {
	Class    string // its name
	Labelled int    // examples, all of this class; 0 where the set itself has one
}

// Error names the class and what to do.
func (e *OneClassError) Error() string {
	if e.Labelled == 0 {
		return fmt.Sprintf("active: the set has the one class %q, so there is nothing to ask", e.Class)
	}
	return fmt.Sprintf("active: all %d labels are of class %q, and a model that knows one class is sure of everything: label others first, chosen by Random or TypiClust", e.Labelled, e.Class)
}

// NotFiniteError says that what a model or a measure gave for an example is NaN
// or infinite.
type NotFiniteError struct {
	What    string // gave it
	Example int    // in the pool's set
}

// Error names the example and what to do.
func (e *NotFiniteError) Error() string {
	return fmt.Sprintf("active: %s of example %d is not a finite number: has training diverged, or the example NaN in it?", e.What, e.Example)
}

// LabelError says that an example cannot be labelled so. No label of the call
// has been taken.
type LabelError struct {
	Example int // in the pool's set
	Label   int
	Problem string
}

// Error names the example, the label and the problem.
func (e *LabelError) Error() string {
	return fmt.Sprintf("active: label %d of example %d: %s", e.Label, e.Example, e.Problem)
}

// SessionError says that the file of a labelling session cannot be read, does
// not belong to the set, or could not be written. Labels that could not be
// written have not been taken: those before are in the file and in the pool.
type SessionError struct {
	Path string
	Err  error
}

// Error names the file and the reason.
func (e *SessionError) Error() string {
	return fmt.Sprintf("active: labelling session %s: %v", e.Path, e.Err)
}

// Unwrap is the reason.
func (e *SessionError) Unwrap() error { return e.Err }
