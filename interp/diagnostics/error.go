package diagnostics

import (
	"go/token"
	"slices"

	"github.com/quernlab/quern/interp/check"
)

// An Error is the error of a cell as a notebook shows it.
type Error struct {
	// Name is the kind, one of the constants below.
	Name string
	// Value is the message, without colors. It lists all compile errors, each with its
	// position, the source line and a caret.
	Value string
	// Traceback is what to show, one line per element, with ANSI colors. The innermost
	// frame is the last.
	Traceback []string
	// At is the statement of the cell in which a panic began; it is not valid for other errors.
	At token.Position
	// Stuck is true if compiled code of the cell, which an interrupt cannot end, is still
	// running in the background. It ends when it returns to code of the cell.
	Stuck bool
	// Earlier is the number of an earlier cell if the cell has failed only because one of that
	// cell's goroutines panicked.
	Earlier int
}

// The kinds of errors.
const (
	Compile     = "compile error"
	Panic       = "panic"
	Runtime     = "runtime error"
	Failed      = "error" // the cell ended in a non-nil error
	Interrupted = "interrupted"
	Fatal       = "fatal error" // the session has found a deadlock
	Internal    = "internal error"
)

// New returns an error whose traceback is the lines of its frames, followed by the
// message.
func New(name, value string, frames []string) *Error {
	e := &Error{Name: name, Value: value}
	e.Traceback = append(frames, ansi.bold+e.Error()+ansi.end)
	return e
}

// InGoroutine returns e, a panic, as the error of a cell whose own goroutine has not panicked. where
// says what has, and earlier is the value of the field.
func (e *Error) InGoroutine(where string, earlier int) *Error {
	of := *e
	of.Value += "\n" + where
	of.Traceback = append(slices.Clip(e.Traceback), where)
	of.Earlier = earlier
	return &of
}

func (e *Error) Error() string { return e.Name + ": " + e.Value }

// NewInterrupted returns the error of an interrupted cell that was in the given frames.
func NewInterrupted(frames []string) *Error {
	return New(Interrupted, "the cell was interrupted", frames)
}

// An UnreadError is the value with which a statement panics if it overwrites an error
// variable that the cell has not read.
type UnreadError struct {
	Err  error
	Name string // of the variable
	Set  token.Position
}

func (e *UnreadError) Error() string { return e.Err.Error() }

// A CommandError is the value with which a failed magic command panics.
type CommandError struct{ error }

// NewCommandError returns err as the error of a command.
func NewCommandError(err error) *CommandError { return &CommandError{err} }

// EndOfCell is the value of the panic by which a return at the top level ends a cell, without an error.
type EndOfCell struct{}

// Uncatchable marks the panic as one that recover in a cell does not return.
func (EndOfCell) Uncatchable() {}

// Filename returns the name of a cell in positions: "cell[3]".
func Filename(cell int) string { return check.Filename(cell) }

// colors are ANSI sequences, or nothing. Only weights are used, no hues: front ends show
// errors on a light or on a dark red background, and none of JupyterLab's colors is
// readable on both. Its cyan has a contrast of 1.6 on the light one, its bold red one of
// 2.1 on the dark one.
type colors struct {
	bold, dim, end string
}

var (
	ansi      = colors{bold: "\x1b[1m", dim: "\x1b[2m", end: "\x1b[0m"}
	colorless colors
)
