package interp

import (
	"fmt"
	"go/ast"
	"go/token"
	"image"
	"maps"
	"reflect"
	"slices"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/lower"
	"github.com/quernlab/quern/interp/rt"
)

// A Result is what a cell shows: a MIME bundle, see package display. Data is empty if the
// cell has no value.
//
// The values, of a call or of a list of expressions, are shown as [display.RenderResult] says. A call whose only result
// is a nil error shows nothing; one that returns a value which shows itself and a nil error
// shows only the value.
type Result struct {
	Data, Metadata map[string]any
	// Goroutines is true if goroutines or timers of the cell outlive it, so that more output may
	// follow. It is also set if the cell fails.
	Goroutines bool
	// Replacement is the text with which a command of the cell, such as %fmt, asks the front end to
	// replace the cell; empty if none does.
	Replacement string
	// Figures are the figures of the result that front ends with widgets can show interactively.
	Figures []display.InteractiveFigure
}

// A renderer makes the result of a cell from its values.
type renderer struct {
	values      *rt.Registry
	reporter    *diagnostics.Reporter
	program     *lower.Program
	interpreter interface {
		Eval(src string) (reflect.Value, error)
	}
	unread *unreadErrors
}

// render returns the result of a run. If the cell ends in a call whose last result is a
// non-nil error, render returns that as the error of the cell.
func (r *renderer) render(run *goroutine.Run, cell *check.Cell) (Result, error) {
	values, has := run.Result()
	if !has {
		return Result{}, nil
	}
	if err := r.failedCall(values, cell); err != nil {
		return Result{}, err
	}
	if cell.IsCount() {
		return Result{}, nil
	}
	if len(values) == 1 && values[0] == nil && cell.EndsInError() && cell.IsCall() {
		return Result{}, nil // nothing failed
	}
	if len(values) == 2 && values[1] == nil && len(cell.Result) == 1 && cell.EndsInError() && showsItself(values[0]) {
		values = values[:1]
	}
	data, metadata := display.RenderResult(values...)
	result := Result{Data: data, Metadata: metadata}
	if len(values) == 1 {
		result.Figures = display.Figures(values[0])
	}
	return result, nil
}

// showsItself reports whether a value has another representation than text.
func showsItself(v any) bool {
	switch v.(type) {
	case display.Displayer, display.Reporter, image.Image:
		return true
	}
	return false
}

// text returns the text of a value.
func (r *renderer) text(v any) string {
	data, _ := display.RenderResult(v)
	text, _ := data["text/plain"].(string)
	return text
}

// word returns a value as text of a shell command.
func (r *renderer) word(v any) (string, error) {
	_, isError := v.(error)
	_, isStringer := v.(fmt.Stringer)
	switch kind := reflect.ValueOf(v).Kind(); {
	case isError, isStringer, kind == reflect.String, kind == reflect.Bool, kind >= reflect.Int && kind <= reflect.Complex128 && kind != reflect.Uintptr:
		return fmt.Sprint(v), nil
	}
	return "", fmt.Errorf("is a %T, not a text or a number", v)
}

// failedCall returns the error of a cell that ends in a call whose last result is a
// non-nil error. Calls of functions that create errors, such as errors.New and fmt.Errorf, are
// excepted: there the error is the value to show.
func (r *renderer) failedCall(values []any, cell *check.Cell) error {
	if len(cell.Result) == 0 {
		return nil
	}
	call, ok := ast.Unparen(cell.Result[0]).(*ast.CallExpr)
	if !ok || cell.MakesError(call) {
		return nil
	}
	last := values[len(values)-1]
	if err, ok := last.(error); ok && cell.EndsInError() {
		return r.reporter.Returned(err, cell.Fset.Position(call.Pos()))
	}
	return nil
}

// unreadError returns an error that a cell has set and not read, as the error of the cell.
func (r *renderer) unreadError(cell *check.Cell) error {
	for _, unread := range cell.Errors {
		key := r.program.Name(unread.Var)
		value, err := r.interpreter.Eval(key)
		if err != nil {
			return r.reporter.Internal(err)
		}
		err, ok := value.Interface().(error)
		switch {
		case !ok || err == nil:
		case unread.Tracked:
			if failure := r.unread.failure(key, err, unread.Var.Name()); failure != nil {
				return r.reporter.Unread(failure)
			}
		default:
			return r.reporter.Unread(&diagnostics.UnreadError{Err: err, Name: unread.Var.Name(), Set: unread.Set})
		}
	}
	return nil
}

// withUnread returns the panic of a cell, with the error that the cell set last before the statement that panicked, if the
// cell has not read it: the value beside that error is often why the cell panics. Errors that statements in loops and
// branches set are left out.
func (r *renderer) withUnread(panicked *diagnostics.Error, cell *check.Cell) error {
	all := slices.Concat(slices.Collect(maps.Values(cell.Overwrites))...)
	var last check.Unread
	at := cell.Start(panicked.At)
	for _, unread := range append(all, cell.Errors...) {
		if unread.Set.Filename == at.Filename && !unread.Tracked && before(unread.Set, at) && !before(unread.Set, last.Set) {
			last = unread
		}
	}
	if last.Var == nil {
		return panicked
	}
	value, err := r.interpreter.Eval(r.program.Name(last.Var))
	if err != nil {
		return panicked // an error that cannot be read explains nothing
	}
	if err, ok := value.Interface().(error); ok && err != nil {
		return r.reporter.PanicAfter(&diagnostics.UnreadError{Err: err, Name: last.Var.Name(), Set: last.Set}, panicked)
	}
	return panicked
}

// before reports whether a position in a file is before another one in it.
func before(a, b token.Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
}
