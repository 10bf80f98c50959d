package export

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// variables returns the declarations of the variables that a var declaration defines for the first time.
func (p *program) variables(c *cell, piece *piece, d *ast.GenDecl) string {
	var lines []string
	for _, spec := range d.Specs {
		for _, id := range spec.(*ast.ValueSpec).Names {
			f := c.references[piece.offset(id.Pos())]
			if f.defines && id.Name != "_" && p.first[f.object] == c {
				lines = append(lines, p.variable(f.object))
			}
		}
	}
	return strings.Join(lines, "\n")
}

// variable returns the package-level declaration of a variable.
func (p *program) variable(o types.Object) string {
	return fmt.Sprintf("var %s %s", p.name(o), p.typeText(o.Type()))
}

// initialize writes the beginning of a cell's function: the initial values of its package-level variables
// and the calls of its init functions.
func (p *program) initialize(c *cell, s *section) {
	for _, init := range c.checked.Init {
		p.initializer(c, init, &s.start)
	}
	for _, piece := range c.pieces {
		if f, ok := piece.decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			fmt.Fprintf(&s.start, "%s()\n", p.name(c.references[piece.offset(f.Name.Pos())].object))
		}
	}
	var shared []types.Object
	for _, o := range p.order {
		if v, ok := o.(*types.Var); ok && p.first[o] == c && !p.local[o] && v != p.ctx && c.inStatementDefinition(o) {
			shared = append(shared, o)
		}
	}
	for _, o := range shared {
		fmt.Fprintf(&s.declarations, "%s\n", p.variable(o))
	}
}

// inStatementDefinition reports whether a statement of the cell defines a variable.
func (c *cell) inStatementDefinition(o types.Object) bool {
	for offset, f := range c.references {
		if f.object != o || !f.defines {
			continue
		}
		for _, piece := range c.pieces {
			if piece.start <= offset && offset < piece.end {
				return piece.stmt != nil
			}
		}
	}
	return false
}

// initializer writes the assignment for an initializer of a var declaration.
func (p *program) initializer(c *cell, init *types.Initializer, b *strings.Builder) {
	for _, piece := range c.pieces {
		d, ok := piece.decl.(*ast.GenDecl)
		if !ok || d.Tok != token.VAR {
			continue
		}
		for _, spec := range d.Specs {
			spec := spec.(*ast.ValueSpec)
			for i, id := range spec.Names {
				f := c.references[piece.offset(id.Pos())]
				if f.object == nil || f.object != types.Object(init.Lhs[0]) {
					continue
				}
				p.set(c, piece, spec, i, len(init.Lhs) > 1, b)
				return
			}
		}
	}
}

// set writes the assignment for variable i of a var declaration, or for all its variables at once.
func (p *program) set(c *cell, piece *piece, spec *ast.ValueSpec, i int, all bool, b *strings.Builder) {
	part := func(n ast.Node) string {
		start, end := piece.offset(n.Pos()), piece.offset(n.End())
		return edited(c.Source, start, end, p.renames(c, piece))
	}
	target := func(id *ast.Ident) string {
		if id.Name == "_" {
			return "_"
		}
		return p.name(c.references[piece.offset(id.Pos())].object)
	}
	switch {
	case len(spec.Values) == 0:
		if spec.Names[i].Name != "_" {
			fmt.Fprintf(b, "%s = *new(%s)\n", target(spec.Names[i]), part(spec.Type))
		}
	case all:
		var names, values []string
		for _, id := range spec.Names {
			names = append(names, target(id))
		}
		for _, v := range spec.Values {
			values = append(values, part(v))
		}
		fmt.Fprintf(b, "%s = %s\n", strings.Join(names, ", "), strings.Join(values, ", "))
	case spec.Names[i].Name == "_" && spec.Type != nil:
		fmt.Fprintf(b, "var _ %s = %s\n", part(spec.Type), part(spec.Values[i]))
	default:
		fmt.Fprintf(b, "%s = %s\n", target(spec.Names[i]), part(spec.Values[i]))
	}
}

// assignments returns the assignments for a var declaration among the statements.
func (p *program) assignments(c *cell, piece *piece, d *ast.GenDecl) string {
	var b strings.Builder
	for _, spec := range d.Specs {
		spec := spec.(*ast.ValueSpec)
		if len(spec.Values) > 0 && len(spec.Names) > 1 {
			p.set(c, piece, spec, 0, true, &b)
			continue
		}
		for i := range spec.Names {
			p.set(c, piece, spec, i, false, &b)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
