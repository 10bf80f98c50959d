package export

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/quernlab/quern/interp/check"
)

// Variables that stay local to the function of their cell.
//
// In a session the variables of top-level statements outlive their cell. In the program a variable is at
// package level only if another cell, a function of the cell, or code before the definition uses it.

// A group is a statement that defines variables. They are either all local or all at package level: x, y :=
// f() cannot define x in the function and set y at package level.
type group struct {
	cell    *cell
	defines []types.Object
	sets    []types.Object // existing variables on the left side
}

func (p *program) findLocals() {
	var groups []group
	for _, c := range p.cells {
		for _, piece := range c.pieces {
			if piece.stmt == nil {
				continue
			}
			if g := p.group(c, piece); len(g.defines) > 0 {
				groups = append(groups, g)
			}
		}
	}
	for _, g := range groups {
		for _, o := range g.defines {
			p.local[o] = p.onlyAfterwards(g.cell, o)
		}
	}
	for _, c := range p.cells {
		if c.checked != nil && c.inner() {
			for _, v := range c.checked.Errors {
				delete(p.local, v.Var) // checked after the deferred calls
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, g := range groups {
			stay := true
			for _, list := range [][]types.Object{g.defines, g.sets} {
				for _, o := range list {
					stay = stay && p.local[o]
				}
			}
			for _, o := range g.defines {
				if !stay && p.local[o] {
					delete(p.local, o)
					changed = true
				}
			}
		}
	}
	for o, local := range p.local {
		if !local {
			delete(p.local, o)
		}
	}
}

// group returns the variables that a statement defines or sets.
func (p *program) group(c *cell, piece *piece) group {
	g := group{cell: c}
	note := func(e ast.Expr) {
		id, ok := e.(*ast.Ident)
		if !ok || id.Name == "_" {
			return
		}
		f := c.references[piece.offset(id.Pos())]
		switch {
		case f.object == nil || !p.atPackageLevel(f.object):
		case f.defines:
			g.defines = append(g.defines, f.object)
		default:
			g.sets = append(g.sets, f.object)
		}
	}
	switch s := check.Unlabeled(piece.stmt).(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			for _, e := range s.Lhs {
				note(e)
			}
		}
	case *ast.DeclStmt:
		for _, spec := range s.Decl.(*ast.GenDecl).Specs {
			if spec, ok := spec.(*ast.ValueSpec); ok {
				for _, name := range spec.Names {
					note(name)
				}
			}
		}
	}
	return g
}

// onlyAfterwards reports whether only the defining statement and later statements of the cell mention a
// variable.
func (p *program) onlyAfterwards(c *cell, o types.Object) bool {
	if o == p.ctx || types.Universe.Lookup(o.Name()) != nil {
		return false // code that the exporter adds may need the predeclared name
	}
	for _, other := range p.cells {
		for offset, f := range other.references {
			if f.object == o && (other != c || !c.inStatement(offset)) {
				return false
			}
		}
	}
	defined := -1
	for _, offset := range c.sorted(0, len(c.Source)) {
		f := c.references[offset]
		switch {
		case f.object != o:
		case defined < 0 && !f.defines, defined >= 0 && f.defines:
			return false
		case f.defines:
			defined = offset
		}
	}
	return true
}

func (c *cell) inStatement(offset int) bool {
	for _, p := range c.pieces {
		if p.start <= offset && offset < p.end {
			return p.stmt != nil
		}
	}
	return false
}

// inner reports whether the statements of a cell need a function of their own, because the end of the cell
// must run after their deferred calls, and after a return.
func (c *cell) inner() bool {
	return c.defersOrReturns() && (c.result() != noResult || len(c.checked.Errors) > 0)
}

func (c *cell) defersOrReturns() bool {
	found := false
	for _, p := range c.pieces {
		if p.stmt == nil {
			continue
		}
		ast.Inspect(p.stmt, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.DeferStmt, *ast.ReturnStmt:
				found = true
			}
			return !found
		})
	}
	return found
}
