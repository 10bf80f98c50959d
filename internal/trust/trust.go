package trust

import "fmt"

// Error reports a path that another user could have written, or a path that is not
// absolute.
type Error struct {
	Path   string // the file or directory at fault, which may be above the one in question
	Reason string
	Remedy string // what to do; may be empty
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s %s", e.Path, e.Reason)
	if e.Remedy != "" {
		text += "; " + e.Remedy
	}
	return text
}

// Errors returns each [*Error] that an error consists of or wraps, in order.
func Errors(err error) (all []*Error) {
	switch e := err.(type) { //nolint:errorlint // it unwraps errors itself
	case *Error:
		return []*Error{e}
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			all = append(all, Errors(part)...)
		}
	case interface{ Unwrap() error }:
		return Errors(e.Unwrap())
	}
	return all
}
