package yaegi

import "fmt"

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
