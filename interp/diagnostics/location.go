package diagnostics

import (
	"fmt"
	"go/token"
	"slices"
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
	for _, c := range t.ownCalls(stack.Own()) {
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
	for _, c := range t.ownCalls(own) {
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

// ownCalls returns the calls on a stack without the one of func main by the statements of a cell, which compiled code does not have.
func (t *Tracebacks) ownCalls(own string) []call {
	list := t.calls(yaegi.Frames(own))
	for i, c := range list {
		if i > 0 && bodyNumber.MatchString(c.Function) && list[i-1].inCell() && t.location(list[i-1].Function, list[i-1].position).Function == "main.main" {
			return slices.Delete(list, i, i+1)
		}
	}
	return list
}

// location describes a function of lowered code at a position. It has the name that it has in compiled code, without inlining. If that
// is not known, a function literal is called func1.
func (t *Tracebacks) location(function string, at token.Position) Location {
	declared, literal := strings.CutSuffix(function, ".func")
	literal = literal && t.sources.inLiteral(at) // lowering makes others
	if name := t.sources.nameAt(declared, literal, at); name != "" {
		return Location{name, at.Filename, at.Line}
	}
	name := t.sources.userName(declared)
	if name == "" {
		name = "main"
	}
	if !isStandard(at) {
		name = "main." + name
	}
	if literal {
		name += ".func1"
	}
	return Location{name, at.Filename, at.Line}
}
