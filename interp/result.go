package interp

import (
	"fmt"
	"go/ast"
	"go/token"
	"image"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

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
// A display.Displayer or an image shows itself. Of other values, strings are quoted as in Go
// source, functions and channels are shown as their type, structs with field names, and
// everything else as fmt.Print prints it; a list of structs is also a table in HTML; what does not fit in a line has the layout of
// display.Format. Several values, of a call or of a list of expressions, are one text
// separated by ", ". Only the first 64 KiB of a long text are shown. A call whose only result
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
	if len(values) == 2 && values[1] == nil && len(cell.Result) == 1 && cell.EndsInError() && r.showsItself(values[0]) {
		values = values[:1]
	}
	if len(values) == 1 {
		return r.renderValue(values[0]), nil
	}
	var texts []string
	for _, v := range values {
		text, _ := r.renderValue(v).Data["text/plain"].(string)
		texts = append(texts, text)
	}
	return Result{Data: map[string]any{"text/plain": strings.Join(texts, ", ")}}, nil
}

// showsItself reports whether a value has another representation than text.
func (r *renderer) showsItself(v any) bool {
	switch v.(type) {
	case display.Displayer, display.Reporter, image.Image:
		return true
	}
	return false
}

func (r *renderer) renderValue(v any) (result Result) {
	if text, ok := r.plainText(v); ok {
		data := map[string]any{"text/plain": shorten(text)}
		if html := r.structs(v); html != nil {
			data["text/html"] = html
		}
		return Result{Data: data}
	}
	data, metadata := display.Render(v)
	if text, ok := data["text/plain"].(string); ok && strings.HasPrefix(text, fmt.Sprintf("%T cannot be shown", v)) {
		if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && p.IsNil() {
			data["text/plain"] = "<nil>" // as package fmt prints it
		}
	}
	return Result{Data: data, Metadata: metadata, Figures: display.Figures(v)}
}

// structs returns a list or a map of structs as a table in HTML; nil for other values.
func (r *renderer) structs(v any) any {
	if kind := reflect.ValueOf(v).Kind(); kind != reflect.Slice && kind != reflect.Array && kind != reflect.Map {
		return nil
	}
	data, _ := display.Render(v)
	return data["text/html"]
}

// text returns the text of a value.
func (r *renderer) text(v any) string {
	if text, ok := r.plainText(v); ok {
		return text
	}
	text, _ := r.renderValue(v).Data["text/plain"].(string)
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

// maxText is how many bytes of a value are shown. Longer output makes a notebook slow.
const maxText = 64 << 10

func shorten(text string) string {
	if len(text) <= maxText {
		return text
	}
	return fmt.Sprintf("%s… and %d bytes more", strings.ToValidUTF8(text[:maxText], ""), len(text)-maxText)
}

// plainText returns the text of a value. ok is false if the value shows itself.
func (r *renderer) plainText(v any) (text string, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			text, ok = fmt.Sprintf("%T cannot be shown: %v", v, p), true
		}
	}()
	switch v := v.(type) {
	case nil:
		return "<nil>", true
	case time.Time: // without the reading of the monotonic clock
		return v.Round(0).String(), true
	case display.Displayer, display.Reporter:
		return "", false
	case error, fmt.Stringer:
		return fmt.Sprint(v), true
	}
	switch value := reflect.ValueOf(v); value.Kind() {
	case reflect.String:
		return strconv.Quote(value.String()), true
	case reflect.Func, reflect.Chan:
		return fmt.Sprintf("%T", v), true
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return fmt.Sprint(v), true
	}
	if isImage(v) {
		return "", false
	}
	return display.Format(v), true
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

func isImage(v any) bool {
	_, ok := v.(image.Image)
	return ok
}
