package interp

import (
	"errors"
	"fmt"
	"go/token"
	"runtime"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/lower"
	"github.com/quernlab/quern/interp/source"
	"github.com/quernlab/quern/interp/yaegi"
)

// An Error is why a cell failed, in the words that a notebook shows.
type Error struct {
	// Name is the kind: "compile error", "panic", "runtime error", "error" (the
	// cell ended in a non-nil error), "interrupted" or "internal error".
	Name string
	// Value is the message, without colours. Compile errors are all there, each
	// with its place, the source line and a caret.
	Value string
	// Traceback is what to show, a line an element, with ANSI colours. The
	// innermost frame is the last.
	Traceback []string
	// Stuck says that compiled code, which an interrupt cannot end, goes on in
	// the background. Once it returns to code of the cell it is ended there.
	Stuck bool
}

// newError makes an error whose traceback is frames and the message.
func newError(name, value string, frames []string) *Error {
	e := &Error{Name: name, Value: value}
	e.Traceback = append(frames, ansi.bold+e.Error()+ansi.end)
	return e
}

func (e *Error) Error() string { return e.Name + ": " + e.Value }

// The kinds of errors.
const (
	nameCompile     = "compile error"
	namePanic       = "panic"
	nameRuntime     = "runtime error"
	nameError       = "error"
	nameInterrupted = "interrupted"
	nameInternal    = "internal error"
)

func filename(cell int) string { return check.Filename(cell) }

// place is the position of p in its cell.
func place(fset *token.FileSet, p token.Pos) token.Position { return fset.Position(p) }

// compileError tells why a cell was not run at all.
func (s *Session) compileError(err error) *Error {
	var list check.ErrorList
	var foreign *source.Error
	if errors.As(err, &foreign) {
		return newError(nameCompile, foreign.Error(), nil)
	}
	var whole *Error
	if errors.As(err, &whole) {
		return whole
	}
	if !errors.As(err, &list) {
		var unsupported *lower.UnsupportedError
		if !errors.As(err, &unsupported) {
			return s.internalError(err)
		}
		msg := unsupported.Construct + " is not supported"
		if unsupported.Hint != "" {
			msg += ": " + unsupported.Hint
		}
		list = check.ErrorList{{Pos: unsupported.Position, Msg: msg}}
	}
	e := &Error{Name: nameCompile}
	var plain []string
	more := len(list) - check.MostErrors
	for _, one := range list[:min(len(list), check.MostErrors)] {
		plain = append(plain, s.describe(one, colourless)...)
		e.Traceback = append(e.Traceback, s.describe(one, ansi)...)
	}
	if more > 0 {
		text := fmt.Sprintf("and %d more errors", more)
		plain = append(plain, text)
		e.Traceback = append(e.Traceback, text)
	}
	e.Value = strings.Join(plain, "\n")
	return e
}

// describe gives an error with its line and a caret below its column.
func (s *Session) describe(e *check.Error, c colours) []string {
	head, more, _ := strings.Cut(e.Msg, "\n")
	lines := []string{fmt.Sprintf("%s:%d:%d: %s%s%s", e.Pos.Filename, e.Pos.Line, e.Pos.Column, c.bold, head, c.end)}
	if source, ok := s.sourceLine(e.Pos); ok {
		lines = append(lines, "    "+strings.ReplaceAll(source, "\t", " "), "    "+strings.Repeat(" ", columns(source, e.Pos.Column))+c.bold+"^"+c.end)
	}
	if more != "" {
		for _, line := range strings.Split(more, "\n") {
			lines = append(lines, "    "+strings.TrimPrefix(line, "\t"))
		}
	}
	return lines
}

// columns is how many columns of a terminal the source before a column, which
// counts bytes, takes with each tab as one space.
func columns(source string, column int) int {
	before := source[:min(max(column-1, 0), len(source))]
	return uniseg.StringWidth(strings.ReplaceAll(before, "\t", " "))
}

// sourceLine is the line of a cell that a position is in.
func (s *Session) sourceLine(p token.Position) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	number, ok := check.FileNumber(p.Filename)
	if !ok {
		return "", false
	}
	rest, line := s.sources[number], ""
	for n := 0; n < p.Line; n++ {
		if n > 0 && rest == "" {
			return "", false
		}
		line, rest, _ = strings.Cut(rest, "\n")
	}
	line = strings.TrimRight(line, "\r")
	return line, strings.TrimSpace(line) != ""
}

// internalError is a fault of ours.
func (s *Session) internalError(err error) *Error {
	text := fmt.Sprintf("%v\nThis is a fault of the interpreter, not of the cell. The session goes on without this cell.", err)
	return &Error{Name: nameInternal, Value: text, Traceback: strings.Split(text, "\n")}
}

// bodyError tells why a cell ended while it ran.
func (s *Session) bodyError(err error) *Error {
	var p *yaegi.Panic
	if !errors.As(err, &p) {
		return s.internalError(err)
	}
	if v, ok := p.Value.(*unreadError); ok {
		return s.unreadFailure(v)
	}
	if v, ok := p.Value.(*commandError); ok {
		return &Error{Name: nameError, Value: v.Error(), Traceback: []string{ansi.bold + v.Error() + ansi.end}}
	}
	return s.panicError(p.Value, s.engine.Trace())
}

func (s *Session) interruptedError() *Error {
	return newError(nameInterrupted, "the cell was interrupted", s.frames(nil))
}

// An unreadError is the panic value of a statement that overwrites an error that
// the cell has not read.
type unreadError struct {
	err  error
	name string // of the variable
	set  token.Position
}

func (e *unreadError) Error() string { return e.err.Error() }

// unreadFailure makes an error that the cell has not read its failure.
func (s *Session) unreadFailure(e *unreadError) *Error {
	value := fmt.Sprintf("%s (%s)\n%s is not read in this cell: read it, or write `_ = %[3]s`", s.registry.Sprint(e.err), s.registry.TypeName(e.err), e.name)
	return newError(nameError, value, s.frameLines(e.set, ""))
}

// errorValue makes an error value that the cell did not handle its failure.
func (s *Session) errorValue(err error, at token.Position) *Error {
	return newError(nameError, fmt.Sprintf("%s (%s)", s.registry.Sprint(err), s.registry.TypeName(err)), s.frameLines(at, ""))
}

// panicError describes a panic that began at passed, which may be nil.
func (s *Session) panicError(value any, passed []yaegi.Frame) *Error {
	// Telling what the value says may run code of a cell, and panic.
	trace := s.frames(passed)
	e := &Error{Name: namePanic}
	var fault runtime.Error
	err, isError := value.(error)
	switch {
	case isError && errors.As(err, &fault):
		e.Name = nameRuntime
		e.Value = strings.TrimPrefix(s.registry.Sprint(err), "runtime error: ")
	case isError && yaegi.IsOwn(err):
		e.Name, e.Value = nameRuntime, yaegi.Explain(err)
	case isError:
		e.Value = fmt.Sprintf("%s (%s)", s.registry.Sprint(err), s.registry.TypeName(value))
	default:
		e.Value = s.panicText(value)
	}
	e.Traceback = append(trace, ansi.bold+e.Error()+ansi.end)
	return e
}

// panicText is what a panic with a value that is no error says.
func (s *Session) panicText(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return s.registry.PanicText(value)
}

// colours are ANSI sequences, or nothing. Weights and no hues: front ends show an error
// on light or on dark red, and of JupyterLab's colours none can be read on both. Its
// cyan has a contrast of 1.6 on the light one, its bold red one of 2.1 on the dark one.
type colours struct {
	bold, dim, end string
}

var (
	ansi       = colours{bold: "\x1b[1m", dim: "\x1b[2m", end: "\x1b[0m"}
	colourless colours
)
