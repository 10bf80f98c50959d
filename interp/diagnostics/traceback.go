package diagnostics

import (
	"fmt"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/quernlab/quern/interp/stack"
	"github.com/quernlab/quern/interp/yaegi"
)

// Tracebacks describes active functions.
type Tracebacks struct {
	sources   *Sources
	positions positions
}

// positions returns the position that lowered code stored as a number.
type positions interface {
	Position(stored int) (token.Position, bool)
}

// NewTracebacks returns tracebacks of lowered code.
func NewTracebacks(s *Sources, p positions) *Tracebacks {
	return &Tracebacks{sources: s, positions: p}
}

// A call is a line of a traceback: a function that is active, several times if it called
// itself from one position.
type call struct {
	yaegi.Frame
	position token.Position
	known    bool // the position is known
	times    int
	elided   bool // and more times, which the trace does not have
}

// inCell reports whether the function is lowered code at a known position.
func (c call) inCell() bool { return c.known && !c.Compiled }

// Lines describes where a panic began, or where an interrupted cell was, innermost frame
// last. Each function of lowered code has stored the position of its current statement.
func (t *Tracebacks) Lines(trace []yaegi.Frame) []string {
	var lines []string
	for _, c := range slices.Backward(t.calls(trace)) {
		lines = append(lines, t.callLines(c)...)
	}
	return lines
}

// Outermost returns the position of the outermost function of a cell: that of a statement of its body.
func (t *Tracebacks) Outermost(trace []yaegi.Frame) (at token.Position) {
	for _, c := range t.calls(trace) {
		if c.inCell() {
			at = c.position
		}
	}
	return at
}

// Innermost returns the position of the innermost function of a cell on a stack.
func (t *Tracebacks) Innermost(stack string) token.Position {
	for _, c := range t.calls(yaegi.Frames(stack)) {
		if c.inCell() {
			return c.position
		}
	}
	return token.Position{}
}

// OwnLines is Lines for the calling goroutine.
func (t *Tracebacks) OwnLines() []string { return t.Lines(yaegi.Frames(stack.Own())) }

// PositionLines returns one frame: a position, followed by its line of source.
func (t *Tracebacks) PositionLines(at token.Position) []string { return t.frameLines(at, "") }

// calls returns the calls of a trace.
func (t *Tracebacks) calls(trace []yaegi.Frame) []call {
	var list []call
	for _, f := range trace {
		c := call{Frame: f, times: 1}
		if f.At > 0 {
			c.position, c.known = t.positions.Position(f.At)
		}
		if n := len(list) - 1; n >= 0 && list[n].Frame == f {
			list[n].times++
			continue
		} else if n > 0 && list[n].Frame == (yaegi.Frame{}) && list[n-1].Frame == f {
			list = list[:n]
			list[n-1].times++
			list[n-1].elided = true
			continue
		}
		list = append(list, c)
	}
	return list
}

// callLines describes a call.
func (t *Tracebacks) callLines(c call) []string {
	times := ""
	switch {
	case c.elided:
		times = fmt.Sprintf(", more than %d calls", c.times)
	case c.times > 1:
		times = fmt.Sprintf(", %d calls", c.times)
	}
	function := c.Function
	if c.known && !t.sources.inLiteral(c.position) {
		// Lowering made the literal.
		function = strings.TrimSuffix(function, ".func")
	}
	name := t.sources.userName(function)
	switch {
	case c.Compiled && c.Function == "":
		return nil // a function of Quern that replaces another
	case c.Compiled:
		return []string{fmt.Sprintf("%sin %s, compiled%s", ansi.dim, c.Function, ansi.end)}
	case c.Function == "":
		return []string{fmt.Sprintf("%sand more calls%s", ansi.dim, ansi.end)}
	case c.known && isStandard(c.position):
		// Our own body of a generic function of the standard library, and its helpers.
		if _, function, _ := strings.Cut(name, "."); !token.IsExported(function) {
			return nil
		}
		return []string{fmt.Sprintf("%sin %s%s%s", ansi.dim, name, times, ansi.end)}
	case c.known:
		return t.frameLines(c.position, name+times)
	case name == "":
		if m := bodyNumber.FindStringSubmatch(c.Function); m != nil {
			number, _ := strconv.Atoi(m[1])
			return []string{Filename(number)}
		}
		return nil
	}
	at, ok := t.sources.declaration(strings.TrimSuffix(function, ".func"))
	if !ok {
		return []string{fmt.Sprintf("%sin %s%s%s", ansi.dim, name, times, ansi.end)}
	}
	return []string{fmt.Sprintf("%s in %s, declared on line %d%s", at.Filename, name, at.Line, times)}
}

// frameLines describes one frame: its position and its line of source.
func (t *Tracebacks) frameLines(at token.Position, function string) []string {
	head := fmt.Sprintf("%s:%d:%d", at.Filename, at.Line, at.Column)
	if function != "" {
		head += " in " + function
	}
	lines := []string{head}
	if source, ok := t.sources.Line(at); ok {
		lines = append(lines, "    "+strings.ReplaceAll(strings.TrimSpace(source), "\t", " "))
	}
	return lines
}

// isStandard reports whether a position is in package generic.
func isStandard(p token.Position) bool { return strings.HasPrefix(p.Filename, "generic/") }

// bodyNumber finds the number of the cell whose statements a function runs.
var bodyNumber = regexp.MustCompile(`^bodyʹ(\d+)`)
