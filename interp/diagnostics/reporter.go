package diagnostics

import (
	"errors"
	"fmt"
	"go/token"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/rivo/uniseg"

	checks "github.com/quernlab/quern/check"
	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/lower"
	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/source"
	"github.com/quernlab/quern/interp/yaegi"
)

// A Reporter converts errors of the compiler or of a cell to an Error.
type Reporter struct {
	sources    *Sources
	tracebacks *Tracebacks
	values     values
}

// values describes values of lowered code.
type values interface {
	PanicText(v any) string
}

// NewReporter returns a reporter.
func NewReporter(s *Sources, t *Tracebacks, v values) *Reporter {
	return &Reporter{sources: s, tracebacks: t, values: v}
}

// Compile returns why a cell could not be compiled.
func (r *Reporter) Compile(err error) *Error {
	var list check.ErrorList
	var foreign *source.Error
	if errors.As(err, &foreign) {
		return New(Compile, foreign.Error(), nil)
	}
	var whole *Error
	if errors.As(err, &whole) {
		return whole
	}
	if !errors.As(err, &list) {
		var unsupported *lower.UnsupportedError
		if !errors.As(err, &unsupported) {
			return r.Internal(err)
		}
		msg := unsupported.Construct + " is not supported"
		if unsupported.Hint != "" {
			msg += ": " + unsupported.Hint
		}
		list = check.ErrorList{{Pos: unsupported.Position, Msg: msg}}
	}
	e := &Error{Name: Compile}
	var plain []string
	more := len(list) - check.MaxErrors
	for _, one := range list[:min(len(list), check.MaxErrors)] {
		plain = append(plain, r.describe(one, colorless)...)
		e.Traceback = append(e.Traceback, r.describe(one, ansi)...)
	}
	if more > 0 {
		text := fmt.Sprintf("and %d more errors", more)
		plain = append(plain, text)
		e.Traceback = append(e.Traceback, text)
	}
	e.Value = strings.Join(plain, "\n")
	return e
}

// describe returns a compile error with its line and a caret below its column.
func (r *Reporter) describe(e *check.Error, c colors) []string {
	head, more, _ := strings.Cut(e.Msg, "\n")
	lines := []string{fmt.Sprintf("%s:%d:%d: %s%s%s", e.Pos.Filename, e.Pos.Line, e.Pos.Column, c.bold, head, c.end)}
	if source, ok := r.sources.Line(e.Pos); ok {
		lines = append(lines, "    "+strings.ReplaceAll(source, "\t", " "), "    "+strings.Repeat(" ", columns(source, e.Pos.Column))+c.bold+"^"+c.end)
	}
	if more != "" {
		for _, line := range strings.Split(more, "\n") {
			lines = append(lines, "    "+strings.TrimPrefix(line, "\t"))
		}
	}
	return lines
}

// columns returns how many columns of a terminal the source before a column takes, with
// each tab as one space. column counts bytes.
func columns(source string, column int) int {
	before := source[:min(max(column-1, 0), len(source))]
	return uniseg.StringWidth(strings.ReplaceAll(before, "\t", " "))
}

// Internal returns the error for a bug of Quern.
func (r *Reporter) Internal(err error) *Error {
	text := fmt.Sprintf("%v\nThis is a bug in Quern, not in the cell. The session continues without this cell.", err)
	return &Error{Name: Internal, Value: text, Traceback: strings.Split(text, "\n")}
}

// IsEndOfCell reports whether err, which is from the interpreter, is a return at the top level of a cell.
func IsEndOfCell(err error) bool {
	var p *yaegi.Panic
	if !errors.As(err, &p) {
		return false
	}
	_, ok := p.Value.(EndOfCell)
	return ok
}

// Run returns why a cell ended while it ran. err is from the interpreter.
func (r *Reporter) Run(err error) *Error {
	var p *yaegi.Panic
	if !errors.As(err, &p) {
		return r.Internal(err)
	}
	return r.panicAt(p.Value, p.Frames)
}

// Unread returns the error of a cell that has not read an error.
func (r *Reporter) Unread(e *UnreadError) *Error {
	if check.IsReturned(e.Name) {
		return r.Returned(e.Err, e.Set)
	}
	value := fmt.Sprintf("%v%s\n%s is not read in this cell: read it, or write `_ = %[3]s`", e.Err, typeOf(e.Err), e.Name)
	return New(Failed, value, r.tracebacks.PositionLines(e.Set))
}

// PanicAfter returns a panic with the error that the cell had set before and has not read. It is often the cause, such as
// when the value beside the error is nil.
func (r *Reporter) PanicAfter(e *UnreadError, panicked *Error) *Error {
	cause := fmt.Sprintf("%s was set before, and not read: %v%s", e.Name, e.Err, typeOf(e.Err))
	with := *panicked
	with.Value += "\n" + cause
	with.Traceback = append(slices.Clip(panicked.Traceback), r.tracebacks.PositionLines(e.Set)...)
	with.Traceback = append(with.Traceback, ansi.bold+cause+ansi.end)
	return &with
}

// Returned returns the error of a cell whose last statement, a call at a position,
// returned err.
func (r *Reporter) Returned(err error, at token.Position) *Error {
	return New(Failed, fmt.Sprintf("%v%s", err, typeOf(err)), r.tracebacks.PositionLines(at))
}

// Panic describes the last panic of the calling goroutine, and those that it has replaced. A deferred function must call it. It may run
// code of a cell, to print the values, and so may panic itself.
func (r *Reporter) Panic(value any) *Error { return r.panicAt(value, yaegi.PanicFrames()) }

// panicAt describes a panic that began in frames.
func (r *Reporter) panicAt(value any, frames []yaegi.Frame) *Error {
	list := replaced(value)
	if len(list) == 1 {
		switch v := value.(type) {
		case *UnreadError:
			return r.Unread(v)
		case *CommandError:
			return &Error{Name: Failed, Value: v.Error(), Traceback: []string{ansi.bold + v.Error() + ansi.end}}
		}
	}
	e := &Error{At: r.tracebacks.Outermost(frames), Traceback: r.tracebacks.Lines(frames)}
	e.Name, e.Value = r.panics(list)
	e.Traceback = append(e.Traceback, ansi.bold+e.Error()+ansi.end)
	return e
}

// replaced is rt.Replaced without the panics by which the session ends code of cells, except for the last one.
func replaced(value any) []rt.Raised {
	list := rt.Replaced(value)
	last := len(list) - 1
	before := slices.DeleteFunc(list[:last:last], func(p rt.Raised) bool {
		_, uncatchable := p.Value.(interface{ Uncatchable() })
		_, overflow := p.Value.(runtime.Error)
		return uncatchable && !overflow
	})
	return append(before, list[last])
}

// panics describes panics in the format of Go: a line for each, all but the first one indented.
func (r *Reporter) panics(list []rt.Raised) (name, text string) {
	var lines []string
	for _, p := range list {
		kind, value := r.panicValue(p.Value)
		switch {
		case p.Recovered && p.Again:
			value += " [recovered, repanicked]"
		case p.Recovered:
			value += " [recovered]"
		}
		if len(list) == 1 {
			return kind, value
		}
		if kind == Runtime {
			kind, value = Panic, Runtime+": "+value
		}
		if name == "" {
			name = kind
		} else {
			value = kind + ": " + value
		}
		lines = append(lines, strings.ReplaceAll(value, "\n", "\n\t"))
	}
	return name, strings.Join(lines, "\n\t")
}

// panicValue describes the value of a panic.
func (r *Reporter) panicValue(value any) (name, text string) {
	var fault runtime.Error
	err, isError := value.(error)
	if !isError {
		return Panic, r.values.PanicText(value)
	}
	switch unread, isUnread := err.(*UnreadError); { //nolint:errorlint // a wrapped one is an error of the cell
	case isUnread:
		return Failed, fmt.Sprintf("%s was not read: %v%s", unread.Name, unread.Err, typeOf(unread.Err))
	case isCheck(err), isCommand(err):
		return Failed, err.Error()
	case errors.As(err, &fault):
		return Runtime, strings.TrimPrefix(fmt.Sprint(err), "runtime error: ")
	}
	return Panic, fmt.Sprintf("%v%s", err, typeOf(err))
}

// typeOf returns the type of an error in brackets; "" if it is an unexported one of the standard library's
// packages for errors, which says nothing.
func typeOf(err error) string {
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if path := t.PkgPath(); (path == "errors" || path == "fmt") && !token.IsExported(t.Name()) {
		return ""
	}
	return fmt.Sprintf(" (%T)", err)
}

// isCommand reports whether err is that of a magic command.
func isCommand(err error) bool {
	_, ok := err.(*CommandError) //nolint:errorlint // a wrapped one is an error of the cell
	return ok
}

// isCheck reports whether err is a check of package check that does not hold.
func isCheck(err error) bool {
	_, ok := err.(*checks.Failure) //nolint:errorlint // a wrapped one is an error of the cell
	return ok
}

// A Waiting is a goroutine that waits for others.
type Waiting struct {
	Stack string
	For   string // what, such as "to send on a channel"
}

// mostWaiting is how many other goroutines the error of a deadlock describes.
const mostWaiting = 3

// Deadlock returns the error of a cell whose own goroutine, which is the first one, and all others wait for each other. They must
// not run meanwhile.
func (r *Reporter) Deadlock(waiting []Waiting) *Error {
	value := "all goroutines are asleep - deadlock!\nthe cell waits " + waiting[0].For
	others := waiting[1:]
	for _, w := range others[:min(len(others), mostWaiting)] {
		if at := r.tracebacks.Innermost(w.Stack); at.IsValid() {
			value += fmt.Sprintf("\na goroutine at %s:%d:%d waits %s", at.Filename, at.Line, at.Column, w.For)
		}
	}
	if more := len(others) - mostWaiting; more > 0 {
		value += fmt.Sprintf("\nand %d more", more)
	}
	return New(Fatal, value, r.tracebacks.Lines(yaegi.Frames(waiting[0].Stack)))
}

// Overflow returns the error of the calling goroutine, whose stack is too large.
func (r *Reporter) Overflow() *Error {
	return New(Runtime, "stack overflow: calls are nested too deeply, probably by infinite recursion", r.tracebacks.OwnLines())
}

// Interrupted returns the error of the calling goroutine, which is interrupted.
func (r *Reporter) Interrupted() *Error { return NewInterrupted(r.tracebacks.OwnLines()) }
