package format

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/scanner"
	"go/token"
	"strings"

	"github.com/quernlab/quern/interp/check"
)

// A run is a part of a cell that Go can parse as a whole: declarations at package level, or statements.
type run struct {
	start, end int
	spans      []check.Span
	statements bool
}

// runsOf divides the part of a cell from an offset to another into runs. A declaration that may be in either kind of run
// belongs to the one before it, or else to the one after it.
func runsOf(spans []check.Span, from, to int) []run {
	runs := []run{{start: from, end: to}}
	decided := false
	for _, s := range spans {
		last := &runs[len(runs)-1]
		if s.Place != check.Anywhere {
			statement := s.Place == check.InFunction
			switch {
			case !decided:
				last.statements, decided = statement, true
			case last.statements != statement:
				last.end = s.Doc
				runs = append(runs, run{start: s.Doc, end: to, statements: statement})
				last = &runs[len(runs)-1]
			}
		}
		last.spans = append(last.spans, s)
	}
	return runs
}

// What surrounds a run so that it is a Go file.
const (
	packageHead = "package p\n\n"
	bodyHead    = packageHead + "func _() {\n"
	bodyTail    = "\n\n}\n" // as in gofmt: the blank line keeps a comment at the end inside
	listHead    = "_("      // before a list of expressions
)

// config is gofmt's. The last bit is that of package go/format, which makes the prefixes and exponents of numbers
// lower case.
var config = printer.Config{Mode: printer.UseSpaces | printer.TabIndent | 1<<30, Tabwidth: 8}

// format formats a run, whose text without space around it is given, and returns the names that it defines.
func (r run) format(cell, text string) (formatted string, names []string, err error) {
	head, tail := packageHead, "\n"
	switch {
	case r.statements:
		head, tail = bodyHead, bodyTail
	case len(r.spans) > 0 && strings.HasPrefix(cell[r.spans[0].Start:], "package "):
		head = ""
	}
	var list *check.Span
	for i, s := range r.spans {
		if s.List {
			list = &r.spans[i]
		}
	}
	body := text
	if list != nil {
		start, end := list.Start-r.start, list.End-r.start
		body = text[:start] + listHead + text[start:end] + ")" + text[end:]
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", head+body+tail, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		var errs scanner.ErrorList
		if !errors.As(err, &errs) || len(errs) == 0 {
			return "", nil, errorAt(cell, r.start, err.Error())
		}
		offset := min(max(errs[0].Pos.Offset-len(head), 0), len(body))
		if list != nil && offset > list.Start-r.start {
			offset = max(offset-len(listHead), list.Start-r.start)
		}
		return "", nil, errorAt(cell, r.start+min(offset, len(text)), errs[0].Msg)
	}
	names = definedBy(file, r.statements)
	ast.SortImports(fset, file)
	config := config
	if r.statements {
		config.Indent = -1
	}
	var b bytes.Buffer
	if err := config.Fprint(&b, fset, file); err != nil {
		return "", nil, errorAt(cell, r.start, err.Error())
	}
	formatted = b.String()
	if r.statements {
		formatted = strings.TrimSuffix(strings.TrimSuffix(formatted, "\n"), "}")
	}
	formatted = strings.Trim(strings.TrimPrefix(formatted, head), " \t\r\n")
	return r.restore(formatted), names, nil
}

// restore puts a semicolon that hides a value back, and removes the call around a list of expressions.
func (r run) restore(formatted string) string {
	hides, list := false, false
	for _, s := range r.spans {
		hides, list = hides || s.Hides, list || s.List
	}
	if !hides && !list {
		return formatted
	}
	spans, _ := check.Spans(formatted)
	for i := len(spans) - 1; i >= 0; i-- {
		s := spans[i]
		switch {
		case s.Place != check.InFunction:
		case list:
			return formatted[:s.Start] + formatted[s.Start+len(listHead):s.End-1] + formatted[s.End:]
		default:
			return formatted[:s.End] + ";" + formatted[s.End:]
		}
	}
	return formatted
}
