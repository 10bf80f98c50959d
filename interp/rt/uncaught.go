package rt

import (
	"fmt"
	"runtime"
)

// uncatchable is a panic value, such as the interrupt of a cell, that recover in cells does not return. Go ends the process instead,
// or has nothing like it.
type uncatchable interface{ Uncatchable() }

// uncaught is what raiseAgain panics with for such a value. Some compiled functions recover the panics of methods, to print them.
// Printing an uncaught panics with it again, from where package fmt lets it pass.
type uncaught struct{ value any }

// Uncatchable marks the panic as one that recover in a cell does not return.
func (*uncaught) Uncatchable() {}

// recoverers are the compiled functions that print the panics that they recover.
var recoverers = map[string]bool{
	"fmt.(*pp).catchPanic":                      true,
	"text/template.safeCall.func1":              true,
	"log/slog.(*handleState).appendValue.func1": true,
}

// Format implements fmt.Formatter.
func (u *uncaught) Format(s fmt.State, verb rune) {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); recoverers[f.Function] {
			panic(u)
		}
	}
	fmt.Fprintf(s, fmt.FormatString(s, verb), u.value)
}
