package frame

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// errNil is the panic of methods of a nil frame, which a function that failed has returned.
var errNil = errors.New("frame: the frame is nil: check the error returned where it was created")

// ColumnError says that a frame contains no column of a name, or two.
type ColumnError struct {
	Name      string   // that was asked for
	Columns   []string // what the frame contains
	Duplicate bool     // the frame would have two columns of that name
}

// Error names the most similar column, or all if there are few.
func (e *ColumnError) Error() string {
	if e.Duplicate {
		return fmt.Sprintf("frame: two columns are named %q: rename one of them", e.Name)
	}
	text := fmt.Sprintf("frame: no column is named %q", e.Name)
	best, least := "", max(3, len(e.Name)/2)
	for _, name := range e.Columns {
		if d := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(e.Name)); d < least {
			best, least = name, d
		}
	}
	switch {
	case best != "":
		return text + fmt.Sprintf("; did you mean %q?", best)
	case len(e.Columns) == 0:
		return text + ": the frame has no columns"
	case len(e.Columns) <= 20:
		return text + fmt.Sprintf(": it has %q", e.Columns)
	}
	return text + fmt.Sprintf(": it has %d others, of which %q is the first", len(e.Columns), e.Columns[0])
}

// TypeError says that a column has another type than an operation needs.
type TypeError struct {
	Column string // name of the column
	Type   Type   // of the column
	Want   string // the types that the operation accepts
	Reason string // why the column has its type, if a file has values of several types; may be empty
}

// Error says what the column is and what was expected.
func (e *TypeError) Error() string {
	text := fmt.Sprintf("frame: column %q is of type %s, but %s is needed", e.Column, e.Type, e.Want)
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}

// MissingError says that a value which was asked for is missing.
type MissingError struct {
	Column string // name of the column
	Row    int    // from 0
}

// Error says where the value is missing and what to do.
func (e *MissingError) Error() string {
	return fmt.Sprintf("frame: column %q has no value in row %d: look at Missing first, or use DropMissing or FillMissing", e.Column, e.Row)
}

// LengthError says that a column has another number of values than its frame.
type LengthError struct {
	Column    string // name of the column
	Got, Want int    // values of the column, and of each column of the frame
}

// Error gives both lengths.
func (e *LengthError) Error() string {
	return fmt.Sprintf("frame: column %q has %d values, but the frame has %d rows", e.Column, e.Got, e.Want)
}
