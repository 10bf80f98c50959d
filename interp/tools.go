package interp

import (
	"context"
	"go/types"
	"regexp"
	"strings"
	"time"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/complete"
	"github.com/quernlab/quern/interp/inspect"
	"github.com/quernlab/quern/interp/magic"
	"github.com/quernlab/quern/interp/symbols"
)

// tools implements completion, inspection and is-complete. It does not wait for a running cell.
type tools struct {
	checker   *check.Checker
	commands  magic.Session
	evaluator interface {
		Evaluate(ctx context.Context, expr string) (Result, error)
	}
	executor interface{ isIdle() bool }
	timeout  time.Duration // of the evaluation of a variable
}

// complete implements Session.Complete.
func (t *tools) complete(src string, offset int) (start, end int, items []complete.Item) {
	offset = min(max(offset, 0), len(src))
	if start, prefix, ok := magic.At(src, offset, t.checker.Known); ok {
		for _, name := range magic.Names(prefix) {
			items = append(items, complete.Item{Text: name, Kind: "magic"})
		}
		return start, offset, items
	}
	if start, names, ok := magic.PathAt(src, offset, t.checker.Known); ok {
		for _, name := range names {
			items = append(items, complete.Item{Text: name, Kind: "path"})
		}
		return start, offset, items
	}
	if magic.InText(src, offset, t.checker.Known) {
		return offset, offset, nil
	}
	return complete.At(t.checker, symbols.Paths(), magic.Blank(src, t.checker.Known), offset)
}

// inspect implements Session.Inspect.
func (t *tools) inspect(src string, offset, detail int) (data map[string]any) {
	offset = min(max(offset, 0), len(src))
	if usage, doc, ok := magic.DocAt(src, offset, t.checker.Known); ok {
		return map[string]any{"text/plain": usage + "\n\n" + doc, "text/markdown": "`" + usage + "`\n\n" + doc}
	}
	d, ok := inspect.At(t.checker, symbols.Doc, magic.Blank(src, t.checker.Known), offset, detail)
	if !ok {
		return nil
	}
	if value, ok := t.value(d.Variable); ok {
		d.Declaration += " = " + value
	}
	return map[string]any{"text/plain": d.Plain(), "text/markdown": d.Markdown()}
}

// isComplete implements Session.IsComplete.
func (t *tools) isComplete(src string) (status, indent string) {
	if magic.IsOpen(src, t.checker.Known) {
		return "incomplete", ""
	}
	commands, err := magic.Parse(src, t.commands)
	if err != nil {
		return "invalid", ""
	}
	switch state, depth := check.IsComplete(commands.Source); state {
	case check.Complete:
		return "complete", ""
	case check.Incomplete:
		return "incomplete", strings.Repeat("\t", depth)
	default:
		return "invalid", ""
	}
}

const (
	// valueTimeout bounds the evaluation of a variable while the user waits for a tooltip.
	valueTimeout = 50 * time.Millisecond
	// valueLength is how much of a value is shown, in characters.
	valueLength = 200
)

// lineBreak matches a line break and the indent of the next line.
var lineBreak = regexp.MustCompile(`\n\s*`)

// value returns the value of a variable of the session as one line. ok is false if that would
// run methods, or wait for a cell.
func (t *tools) value(v *types.Var) (text string, ok bool) {
	if v == nil || !t.executor.isIdle() || !isData(v.Type(), map[types.Type]bool{}) {
		return "", false
	}
	ctx, cancel := context.WithTimeout(context.Background(), t.timeout)
	defer cancel()
	result, err := t.evaluator.Evaluate(ctx, v.Name())
	if err != nil {
		return "", false
	}
	if text, ok = result.Data["text/plain"].(string); !ok {
		return "", false
	}
	text = lineBreak.ReplaceAllString(text, " ")
	if r := []rune(text); len(r) > valueLength {
		text = string(r[:valueLength]) + "…"
	}
	return text, true
}

// isData reports whether showing a value of type t runs no methods.
func isData(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return true
	}
	seen[t] = true
	if types.NewMethodSet(t).Len() > 0 || types.NewMethodSet(types.NewPointer(t)).Len() > 0 {
		return false
	}
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Kind() != types.UnsafePointer
	case *types.Pointer:
		return isData(t.Elem(), seen)
	case *types.Slice:
		return isData(t.Elem(), seen)
	case *types.Array:
		return isData(t.Elem(), seen)
	case *types.Map:
		return isData(t.Key(), seen) && isData(t.Elem(), seen)
	case *types.Struct:
		for f := range t.Fields() {
			if !isData(f.Type(), seen) {
				return false
			}
		}
		return true
	}
	return false // an interface may hold anything
}
