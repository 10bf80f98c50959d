package check

import (
	"go/parser"
	"go/token"
	"strconv"
)

// A Span is a top-level part of a cell: an import, a declaration or a statement.
type Span struct {
	Start, End int // of its first and after its last token, as offsets in the cell
	Doc        int // where the comment immediately before begins, or Start
	Place      Place
	// Hides is true for the last statement of a cell if it is an expression, or a list of them, and a
	// semicolon after it hides its value.
	Hides bool
	// List is true for the last statement of a cell if it is a list of expressions, which is not a Go
	// statement.
	List bool
}

// A Place says where Go allows a part of a cell.
type Place int

// The places.
const (
	Anywhere     Place = iota // var, type and const
	PackageLevel              // a package clause, an import, a function or a method
	InFunction                // a statement
)

// Spans splits a cell, whose commands must have been replaced. unmatched is the offset of a closing bracket
// without an opening one, or -1.
func Spans(src string) (spans []Span, unmatched int) {
	u := &unit{src: src}
	if u.chunks, unmatched = split(src); unmatched >= 0 {
		return nil, unmatched
	}
	for _, c := range u.chunks {
		s := Span{Start: c.start, End: c.last, Doc: c.doc}
		switch {
		case c.kind == stmtChunk:
			s.Place = InFunction
		case c.kind == importChunk, c.kind == packageChunk, c.kind == declChunk && c.first == token.FUNC:
			s.Place = PackageLevel
		}
		spans = append(spans, s)
	}
	statements, last := false, -1
	for i, c := range u.chunks {
		statements = statements || c.kind == stmtChunk
		if c.kind == stmtChunk || c.kind == varChunk && statements {
			last = i
		}
	}
	if last < 0 || u.chunks[last].kind != stmtChunk {
		return spans, -1
	}
	if c := u.chunks[last]; c.quiet {
		_, err := parser.ParseExpr(src[c.start:c.last])
		spans[last].Hides = err == nil
	}
	if last == len(spans)-1 {
		spans[last].List = u.endsInList()
	}
	return spans, -1
}

// An Import is an import of a cell.
type Import struct {
	Path   string
	Offset int // of the declaration in the cell
}

// Imports returns the imports of a cell.
func Imports(src string) (list []Import) {
	chunks, _ := split(src)
	for _, c := range chunks {
		if c.kind != importChunk {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+src[c.start:c.end], parser.ImportsOnly)
		if err != nil {
			continue // the check of the cell finds it
		}
		for _, spec := range file.Imports {
			if path, err := strconv.Unquote(spec.Path.Value); err == nil {
				list = append(list, Import{path, c.start})
			}
		}
	}
	return list
}
