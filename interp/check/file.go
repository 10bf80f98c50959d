package check

import (
	"go/ast"
	"slices"
)

// File returns the cell as a Go file: its imports, its package-level declarations, and a function with its
// statements. Declarations that the cell carries are left out. The file is valid until Release.
func (c *Cell) File() *ast.File {
	f := &ast.File{Package: c.body.Pos(), Name: &ast.Ident{NamePos: c.body.Pos(), Name: c.Package.Name()}, Imports: c.Imports}
	for _, p := range c.pieces {
		if !p.carried {
			f.Decls = append(f.Decls, p.node)
		}
	}
	f.Decls = append(f.Decls, c.body)
	return f
}

// Remarks returns the notes with their positions, also those about text that earlier cells had. Commit removes them.
func (c *Cell) Remarks() ErrorList {
	var list ErrorList
	for _, n := range c.noted {
		list = append(list, &Error{Pos: c.Fset.Position(n.pos), Msg: n.key.msg})
	}
	slices.SortStableFunc(list, func(x, y *Error) int {
		if x.Pos.Line != y.Pos.Line {
			return x.Pos.Line - y.Pos.Line
		}
		return x.Pos.Column - y.Pos.Column
	})
	return list
}
