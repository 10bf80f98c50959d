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
