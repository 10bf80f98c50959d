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
	if e, ok := err.(*Error); ok {
		return []*Error{e}
	}
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			all = append(all, Errors(part)...)
		}
	case interface{ Unwrap() error }:
		return Errors(e.Unwrap())
	}
	return all
}
