package diagnostics

import (
	"fmt"
	"go/token"
	"strings"

	"github.com/quernlab/quern/interp/stack"
	"github.com/quernlab/quern/interp/yaegi"
)

// A Location is a position in an active function of lowered code: the line of its current
// statement or, while its deferred calls run, of its last one.
type Location struct {
	Function string // "main.f"; "main.main" for the statements of a cell
	File     string // "cell[3]"
	Line     int
}

// Locations returns the locations of the active functions of lowered code of the calling
// goroutine, innermost first, as an iterator.
func (t *Tracebacks) Locations(yield func(Location) bool) {
	for _, c := range t.calls(yaegi.Frames(stack.Own())) {
		if !c.inCell() {
			continue
		}
		l := t.location(c.Function, c.position)
		for range c.times {
			if !yield(l) {
				return
			}
		}
	}
}

// Caller returns the location of the function of lowered code that has called compiled
// code, or of the one n calls above it.
func (t *Tracebacks) Caller(n int) (Location, bool) {
	for l := range t.Locations {
		if n == 0 {
			return l, true
		}
		n--
	}
	return Location{}, false
}

// StackText returns the stack of the calling goroutine in the form of debug.Stack. It shows
// functions of cells with their locations and without arguments, and the compiled functions
// between them by name. While deferred calls run because of a panic, it includes the
// functions that the panic has unwound.
func (t *Tracebacks) StackText() string {
	var b strings.Builder
	own := stack.Own()
	fmt.Fprintf(&b, "goroutine %d [running]:\n", stack.Goroutine(own))
	for _, c := range t.calls(yaegi.Frames(own)) {
		for range c.times {
			switch {
			case c.Compiled && c.Function != "":
				fmt.Fprintf(&b, "%s(...)\n", c.Function)
			case c.inCell():
				l := t.location(c.Function, c.position)
				fmt.Fprintf(&b, "%s(...)\n\t%s:%d\n", l.Function, l.File, l.Line)
			}
		}
		if c.elided || c.Frame == (yaegi.Frame{}) {
			b.WriteString("...additional frames elided...\n")
		}
	}
	return b.String()
}

// location describes a function of lowered code at a position. All function literals
// are called func1.
func (t *Tracebacks) location(function string, at token.Position) Location {
	declared, literal := strings.CutSuffix(function, ".func")
	name := t.sources.userName(declared)
	if name == "" {
		name = "main"
	}
	if literal && t.sources.inLiteral(at) {
		name += ".func1"
	}
	return Location{"main." + name, at.Filename, at.Line}
}
