package preprocess

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/frame"
)

// CategoryError says that a row has a category or class that no training row has.
type CategoryError struct {
	Column string   // name of the column
	Row    int      // from 0
	Value  string   // "" if it is missing
	Known  []string // categories or classes of the training rows
	Class  bool     // whether it is the class to predict
}

// Error names the value and what to do.
func (e *CategoryError) Error() string {
	value, known := fmt.Sprintf("%q", e.Value), fmt.Sprintf("%q", e.Known)
	if e.Value == "" {
		value = "a missing value"
	}
	if len(e.Known) > 10 {
		known = fmt.Sprintf("%d others", len(e.Known))
	}
	advice := "use Categories(…).Other() to accept it"
	if e.Class {
		advice = "split the rows so that each class is among the training rows, or filter this one out"
	}
	return fmt.Sprintf("preprocess: column %q, row %d: %s is not among the training rows, which have %s: %s", e.Column, e.Row, value, known, advice)
}

// ValueError says that a value cannot be used.
type ValueError struct {
	Column string // name of the column
	Row    int    // from 0
	Value  string // that was found, in words if it is not a value of the column
	Want   string // what would be accepted
}

// Error names the value, and what is wanted.
func (e *ValueError) Error() string {
	return fmt.Sprintf("preprocess: column %q, row %d: got %s, want %s", e.Column, e.Row, e.Value, e.Want)
}

// catch turns the panics of a data frame into errors.
func catch(err *error) {
	switch p := recover().(type) {
	case nil:
	case *frame.ColumnError, *frame.TypeError, *frame.MissingError:
		*err = fmt.Errorf("preprocess: %w", p.(error))
	default:
		panic(p)
	}
}

var errNoRows = errors.New("preprocess: there are no training rows")
