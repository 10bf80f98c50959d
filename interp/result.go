package interp

import (
	"fmt"
	"go/ast"
	"go/parser"
	"image"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/goroutine"
)

// A Result is what a cell shows: a MIME bundle, see package display. Data is
// empty when the cell has no value.
//
// A value that is a display.Displayer or an image shows itself. Of the others
// strings are quoted as in Go source, functions and channels are their type,
// structs have field names and everything else looks as fmt.Print prints it;
// what does not fit in a line has the layout of display.Format. Several values, of a call or of a list of expressions, are one text with
// ", " between. Of a long text the first 64 KiB are shown. A call whose only result is a nil error shows nothing; one that
// returns what shows itself, and a nil error, shows the former.
type Result struct {
	Data, Metadata map[string]any
	// Goroutines says that goroutines of the cell, or its timers, outlive it: more output may come. It is also set
	// beside an error.
	Goroutines bool
}

// setResult is sessionʹ.Result: the values of the cell's last expression.
func (s *Session) setResult(values ...any) {
	if r := s.goroutines.Run(); r != nil {
		r.SetResult(values, true)
	}
}

// render makes the bundle of a run's values. A call that ends a cell and whose
// last result is a non-nil error fails the cell.
func (s *Session) render(r *goroutine.Run, cell *check.Cell) (Result, error) {
	values, has := r.Result()
	if !has {
		return Result{}, nil
	}
	if err := s.failedCall(values, cell); err != nil {
		return Result{}, err
	}
	if cell.IsCount() {
		return Result{}, nil
	}
	if len(values) == 1 && values[0] == nil && cell.EndsInError() && cell.IsCall() {
		return Result{}, nil // nothing failed
	}
	if len(values) == 2 && values[1] == nil && len(cell.Result) == 1 && cell.EndsInError() && s.showsItself(values[0]) {
		values = values[:1]
	}
	if len(values) == 1 {
		return s.renderValue(values[0]), nil
	}
	var texts []string
	for _, v := range values {
		text, _ := s.renderValue(v).Data["text/plain"].(string)
		texts = append(texts, text)
	}
	return Result{Data: map[string]any{"text/plain": strings.Join(texts, ", ")}}, nil
}

// showsItself says whether a value is more than its text.
func (s *Session) showsItself(v any) bool {
	switch s.registry.ToDisplay(v).(type) {
	case display.Displayer, image.Image:
		return true
	}
	return false
}

func (s *Session) renderValue(v any) (result Result) {
	if text, ok := s.plainText(v); ok {
		return Result{Data: map[string]any{"text/plain": shorten(text)}}
	}
	shown := s.registry.ToDisplay(v)
	data, metadata := display.Render(shown)
	// Where it panics, the text names the box and not the type of the cell; a nil
	// pointer panics because it is one, as for package fmt.
	if text, ok := data["text/plain"].(string); ok {
		if why, ok := strings.CutPrefix(text, fmt.Sprintf("%T cannot be shown", shown)); ok {
			data["text/plain"] = s.registry.TypeName(v) + " cannot be shown" + why
			if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && p.IsNil() {
				data["text/plain"] = "<nil>"
			}
		}
	}
	return Result{Data: data, Metadata: metadata}
}

// maxText is how much of a value is shown; a notebook is slow with more.
const maxText = 64 << 10

func shorten(text string) string {
	if len(text) <= maxText {
		return text
	}
	return fmt.Sprintf("%s… and %d bytes more", strings.ToValidUTF8(text[:maxText], ""), len(text)-maxText)
}

// plainText is the text of a value that does not show itself.
func (s *Session) plainText(v any) (text string, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			text, ok = fmt.Sprintf("%s cannot be shown: %v", s.registry.TypeName(v), r), true
		}
	}()
	switch v := v.(type) {
	case nil:
		return "<nil>", true
	case time.Time: // without the reading of the monotonic clock
		return v.Round(0).String(), true
	case display.Displayer, error, fmt.Stringer:
		if _, ok := v.(display.Displayer); ok {
			return "", false
		}
		return s.registry.Sprint(v), true
	}
	shown := s.registry.ToDisplay(v)
	if _, ok := shown.(display.Displayer); ok {
		return "", false
	}
	raw := v
	if box, ok := v.(interface{ Raw() any }); ok {
		raw = box.Raw()
	}
	switch reflect.ValueOf(raw).Kind() {
	case reflect.String:
		return strconv.Quote(reflect.ValueOf(raw).String()), true
	case reflect.Func, reflect.Chan:
		return s.registry.TypeName(v), true
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return s.registry.Sprint(v), true
	}
	if isImage(v) {
		return "", false
	}
	return display.Format(v), true
}

// failedCall is the error of a cell that ends in a call whose last result is a
// non-nil error. The makers of errors in package errors and fmt.Errorf are no
// such calls: their error is the value that was wanted.
func (s *Session) failedCall(values []any, cell *check.Cell) error {
	if len(cell.Result) == 0 {
		return nil
	}
	call, ok := ast.Unparen(cell.Result[0]).(*ast.CallExpr)
	if !ok || cell.MakesError(call) {
		return nil
	}
	last := values[len(values)-1]
	if err, ok := last.(error); ok && cell.EndsInError() {
		return s.reporter.Returned(err, cell.Fset.Position(call.Pos()))
	}
	return nil
}

// unreadError is the error that a cell has set and not read.
func (s *Session) unreadError(cell *check.Cell) error {
	for _, unread := range cell.Errors {
		key := s.program.Name(unread.Var)
		value, err := s.engine.Eval(key)
		if err != nil {
			return s.reporter.Internal(err)
		}
		err, ok := value.Interface().(error)
		switch {
		case !ok || err == nil:
		case unread.Tracked:
			if failure := s.unread.failure(key, err, unread.Var.Name()); failure != nil {
				return s.reporter.Unread(failure)
			}
		default:
			return s.reporter.Unread(&diagnostics.UnreadError{Err: err, Name: unread.Var.Name(), Set: unread.Set})
		}
	}
	return nil
}

func isExpression(src string) bool {
	_, err := parser.ParseExpr(src)
	return err == nil
}

func isImage(v any) bool {
	_, ok := v.(image.Image)
	return ok
}
