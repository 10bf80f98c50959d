package interp

import (
	"context"
	"fmt"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strconv"
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
	executor   interface{ isIdle() bool }
	goroutines interface{ HasStarted() bool }
	timeout    time.Duration // of the evaluation of a variable
}

// isStill reports whether no code of the session is running that could write to a map while it is read, which would
// end the process.
func (t *tools) isStill() bool { return t.executor.isIdle() && !t.goroutines.HasStarted() }

// complete implements Session.Complete.
func (t *tools) complete(src string, offset int) (start, end int, items []complete.Item) {
	return complete.InCell(t.checker, symbols.Paths(), src, offset, t.inString)
}

// inString completes a string literal: the key of a map, or the name of a file.
func (t *tools) inString(s complete.String, prefix string) (items []complete.Item) {
	if s.Table != "" {
		for _, key := range t.keys(s.Table) {
			if !s.Raw {
				key = strconv.Quote(key)
				key = key[1 : len(key)-1]
			}
			if strings.HasPrefix(key, prefix) {
				items = append(items, complete.Item{Text: key, Kind: "field"})
			}
		}
		return items
	}
	return complete.Files("", s, prefix)
}

// maxKeys is the size above which a map is not searched for keys.
const maxKeys = 1000

// keys returns the keys of a map[string] that a variable of the session is or contains, sorted; none while code of a cell runs.
func (t *tools) keys(table string) []string {
	variable := table[:len(table)-len(strings.TrimLeftFunc(table, func(r rune) bool { return token.IsIdentifier("x" + string(r)) }))]
	known := slices.ContainsFunc(t.checker.Variables(), func(v *types.Var) bool { return v.Name() == variable })
	if !known || !t.isStill() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), t.timeout)
	defer cancel()
	const expr = `func() string {
	if len(%[1]s) > %[2]d {
		return ""
	}
	return strings.Join(slices.Sorted(maps.Keys(%[1]s)), "\x00")
}()`
	result, err := t.evaluator.Evaluate(ctx, fmt.Sprintf(expr, table, maxKeys))
	if err != nil {
		return nil
	}
	text, _ := result.Data["text/plain"].(string)
	if text, err = strconv.Unquote(text); err != nil || text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
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

// similar implements Session.Similar.
func (t *tools) similar(src string) string { return inspect.Similar(t.checker, src) }

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
// run methods of the session, or while code of a cell runs. Of a type of the session that has methods it
// is the fields.
func (t *tools) value(v *types.Var) (text string, ok bool) {
	if v == nil || !t.isStill() {
		return "", false
	}
	expr, quoted := v.Name(), false
	switch {
	case isData(v.Type(), map[types.Type]bool{}) || hasText(v.Type(), v.Pkg()):
	case isStruct(v.Type(), v.Pkg()):
		// Package fmt calls no methods of what it finds in unexported fields.
		expr, quoted = fmt.Sprintf(`fmt.Sprintf("%%+v", struct{ v any }{%s})`, v.Name()), true
	default:
		return "", false
	}
	ctx, cancel := context.WithTimeout(context.Background(), t.timeout)
	defer cancel()
	result, err := t.evaluator.Evaluate(ctx, expr)
	if err != nil {
		return "", false
	}
	if text, ok = result.Data["text/plain"].(string); !ok {
		return "", false
	}
	if quoted {
		if text, err = strconv.Unquote(text); err != nil {
			return "", false
		}
		text = strings.TrimSuffix(strings.TrimPrefix(text, "{v:"), "}")
	}
	text = lineBreak.ReplaceAllString(text, " ")
	if r := []rune(text); len(r) > valueLength {
		text = string(r[:valueLength]) + "…"
	}
	return text, true
}

// hasText reports whether t is a type of a compiled package, or a pointer to one, that has a text of its own.
func hasText(t types.Type, session *types.Package) bool {
	if types.IsInterface(t) {
		return false // it may hold a value of the session
	}
	text, _, _ := types.LookupFieldOrMethod(t, false, nil, "String")
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	return ok && text != nil && named.TypeArgs().Len() == 0 && named.Obj().Pkg() != nil && named.Obj().Pkg() != session
}

// isStruct reports whether t is a struct type of the session.
func isStruct(t types.Type, session *types.Package) bool {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() != session {
		return false
	}
	_, ok = named.Underlying().(*types.Struct)
	return ok
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
