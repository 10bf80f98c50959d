package interp

import (
	"strings"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/complete"
	"github.com/quernlab/quern/interp/inspect"
	"github.com/quernlab/quern/interp/magic"
	"github.com/quernlab/quern/interp/symbols"
)

// Complete gives what may stand at a byte offset of a cell; an item replaces the
// text from start to end. Like Inspect and IsComplete it answers while a cell
// runs.
func (s *Session) Complete(src string, offset int) (start, end int, items []complete.Item) {
	offset = min(max(offset, 0), len(src))
	if start, prefix, ok := magic.At(src, offset, s.checker.Known); ok {
		for _, name := range magic.Names(prefix) {
			items = append(items, complete.Item{Text: name, Kind: "magic"})
		}
		return start, offset, items
	}
	if start, names, ok := magic.PathAt(src, offset, s.checker.Known); ok {
		for _, name := range names {
			items = append(items, complete.Item{Text: name, Kind: "path"})
		}
		return start, offset, items
	}
	if magic.InText(src, offset, s.checker.Known) {
		return offset, offset, nil
	}
	return complete.At(s.checker, symbols.Paths(), magic.Blank(src, s.checker.Known), offset)
}

// Inspect describes the name at a byte offset of a cell, as text/plain and
// text/markdown. The result is nil when nothing is known. A detail above 0 asks
// for the methods of types and the source of what cells define. A variable has
// its value with it, shortened, where no cell runs and showing it runs no code of
// the session.
func (s *Session) Inspect(src string, offset, detail int) (data map[string]any) {
	offset = min(max(offset, 0), len(src))
	if usage, doc, ok := magic.DocAt(src, offset, s.checker.Known); ok {
		return map[string]any{"text/plain": usage + "\n\n" + doc, "text/markdown": "`" + usage + "`\n\n" + doc}
	}
	d, ok := inspect.At(s.checker, symbols.Doc, magic.Blank(src, s.checker.Known), offset, detail)
	if !ok {
		return nil
	}
	if value, ok := s.liveValue(d.Variable); ok {
		d.Declaration += " = " + value
	}
	return map[string]any{"text/plain": d.Plain(), "text/markdown": d.Markdown()}
}

// IsComplete says whether a cell can be run: "complete", "incomplete" with the
// indent of the next line, or "invalid".
func (s *Session) IsComplete(src string) (status, indent string) {
	if magic.IsOpen(src, s.checker.Known) {
		return "incomplete", ""
	}
	commands, err := magic.Parse(src, host{s})
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
