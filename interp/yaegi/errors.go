package yaegi

import (
	"fmt"
	"reflect"
	"strings"
)

// An Error reports a bug of the interpreter: it rejects lowered code that is valid Go.
type Error struct {
	// Reason is the message of the interpreter.
	Reason string
}

func (e *Error) Error() string {
	return "the interpreter rejects lowered code: " + e.Reason
}

// A Panic is a panic of evaluated code.
type Panic struct {
	Value any
}

func (e *Panic) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// IsOwn reports whether yaegi itself raised err while it ran the code of a cell.
func IsOwn(err error) bool {
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return strings.HasPrefix(t.PkgPath(), "github.com/traefik/yaegi")
}

// Explain returns the text of an error for which IsOwn is true, for the author of
// the cell.
func Explain(err error) string {
	text := err.Error()
	if i := strings.Index(text, "interface conversion: "); i >= 0 {
		text = text[i:]
	}
	if strings.HasPrefix(text, "interface conversion: func(") {
		return "an interface holds a value with a method whose signature a later cell has changed: create the value again"
	}
	return text
}
