package rt

import (
	"fmt"
	"runtime"
)

// uncatchable is a panic value, such as the interrupt of a cell, that recover in cells does not return. Go ends the process instead,
// or has nothing like it.
type uncatchable interface{ Uncatchable() }

// uncaught is what raiseAgain panics with for such a value if compiled functions that recover the panics of methods, to print them,
// are being called. Printing it panics with it again, from where package fmt lets it pass.
type uncaught struct{ value any }

// Uncatchable marks the panic as one that recover in a cell does not return.
func (*uncaught) Uncatchable() {}

// printers are the compiled functions that recover the panics of the methods that they call, and printing the functions in them
// that then print the value.
var printers, printing = map[string]bool{
	"fmt.(*pp).handleMethods":             true,
	"text/template.safeCall":              true,
	"log/slog.(*handleState).appendValue": true,
}, map[string]bool{
	"fmt.(*pp).catchPanic":                      true,
	"text/template.safeCall.func1":              true,
	"log/slog.(*handleState).appendValue.func1": true,
}

// raiseAgain is deferred by methods that compiled packages call: one that recovers sees the panic of compiled Go, also if the
// cell runs the method.
func raiseAgain() {
	r := recover()
	if r == nil {
		return
	}
	r = Recovered(r)
	if _, ok := r.(uncatchable); ok && isCalling(printers, 1024) {
		r = &uncaught{r}
	}
	panic(r)
}

// isCalling reports whether one of the functions is active in the calling goroutine, depth calls away at most.
func isCalling(functions map[string]bool, depth int) bool {
	pcs := make([]uintptr, depth)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		if functions[f.Function] {
			return true
		}
		if !more {
			return false
		}
	}
}

// Format implements fmt.Formatter.
func (u *uncaught) Format(s fmt.State, verb rune) {
	if isCalling(printing, 32) {
		panic(u)
	}
	fmt.Fprintf(s, fmt.FormatString(s, verb), u.value)
}
