package export

import (
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// An edit replaces a part of a cell.
type edit struct {
	start, end int
	text       string
}

// edited returns the text of a cell between two offsets, with the edits applied.
func edited(src string, start, end int, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.start - b.start })
	var b strings.Builder
	for _, e := range edits {
		if e.start < start || e.end > end {
			continue
		}
		b.WriteString(src[start:e.start])
		b.WriteString(e.text)
		start = e.end
	}
	b.WriteString(src[start:end])
	return b.String()
}

// renames returns the edits that rename identifiers in a piece: packages and declarations that have another
// name in the program, and names of dot imports.
func (p *program) renames(c *cell, piece *piece) []edit {
	selected := map[int]bool{}
	ast.Inspect(piece.node(), func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			selected[piece.offset(s.Sel.Pos())] = true
		}
		return true
	})
	var edits []edit
	for _, offset := range c.sorted(piece.start, piece.end) {
		f := c.references[offset]
		name, written := f.name, f.name
		if strings.HasPrefix(written, "initʹ") {
			written = "init"
		}
		switch o := f.object.(type) {
		case *types.PkgName:
			name = p.imports.named(f.name, o.Imported().Path())
		default:
			switch {
			case p.names[o] != "":
				name = p.names[o]
			case o.Pkg() != nil && o.Pkg() != p.pkg && o.Parent() == o.Pkg().Scope() && !selected[offset]:
				name = p.imports.of(o.Pkg().Path(), o.Pkg().Name()) + "." + f.name
			}
		}
		if name != written {
			edits = append(edits, edit{offset, offset + len(written), name})
		}
	}
	return edits
}

// text returns a piece of a cell with its identifiers renamed.
func (p *program) text(c *cell, piece *piece, more ...edit) string {
	return edited(c.Source, piece.start, piece.end, append(more, p.renames(c, piece)...))
}

// between returns the comments between two pieces: the comment after the first piece on the same line, and
// the lines above the second piece.
func between(src string, from, to int) (trailing, leading string) {
	text := []byte(src[from:to])
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, func(token.Position, string) {}, scanner.ScanComments)
	var above strings.Builder
	last := 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		if tok != token.COMMENT {
			continue
		}
		at := file.Offset(pos)
		lines := strings.Count(string(text[last:at]), "\n")
		if from > 0 && lines == 0 && above.Len() == 0 && trailing == "" {
			trailing = lit
		} else {
			above.WriteString(strings.Repeat("\n", min(lines, 2)))
			above.WriteString(lit)
		}
		last = at + len(lit)
	}
	if rest := strings.Count(string(text[last:]), "\n"); above.Len() > 0 || rest > 1 {
		above.WriteString(strings.Repeat("\n", max(1, min(rest, 2))))
	}
	return trailing, above.String()
}
