package lsp

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/magic"
	"github.com/quernlab/quern/interp/module"
	"github.com/quernlab/quern/interp/vet"
)

// An analysis is what is known about all cells of a document.
type analysis struct {
	findings []vet.Finding // the number of a cell is its index + 1
	names    []name        // in their order
	unread   []place       // errors that a cell sets and does not read
}

// A place is a part of a cell.
type place struct{ cell, start, end int }

// A name is an identifier in a cell.
type name struct {
	place
	text    string
	object  types.Object // nil for the variable of a type switch
	key     string       // equal for all names of an object that a cell defines; "" for one that a package defines
	defines bool
	typed   string // the type of a variable that := or range defines; otherwise ""
	unnamed bool   // the path of an import, which gives the package its own name
}

// analyze checks the cells in their order.
func analyze(ctx context.Context, d *document, modules module.Source) (*analysis, error) {
	s, err := vet.NewSession(d.dir(), modules)
	if err != nil {
		return nil, err
	}
	a := &analysis{}
	same := map[string]string{} // a field and its type have one name if the field is embedded
	imports := map[string]imported{}
	for i, t := range d.cells {
		if t.ignored {
			continue
		}
		checked, err := s.Check(ctx, vet.Cell{Number: i + 1, Source: t.content, MayFail: t.mayFail})
		if err != nil {
			return nil, err
		}
		if checked == nil {
			s.Checker().Sketch(magic.Blank(t.content, s.Checker().Known), func(k *check.Sketch) {
				c := &collector{cell: i, number: 0, text: t.content, fset: k.Fset, info: k.Info, pkg: k.Package, same: same, imports: imports}
				a.names = append(a.names, c.collect(k.File)...)
			})
			continue
		}
		c := &collector{cell: i, number: i + 1, text: t.content, fset: checked.Fset, info: checked.Info, pkg: checked.Package, same: same, imports: imports}
		a.names = append(a.names, c.collect(checked.File())...)
		for _, e := range checked.Errors {
			if start, ok := c.offset(e.Set); ok {
				a.unread = append(a.unread, place{i, start, start + len(e.Var.Name())})
			}
		}
	}
	a.findings = s.Findings()
	for i := range a.names {
		n := &a.names[i]
		for same[n.key] != "" {
			n.key = same[n.key]
		}
	}
	return a, nil
}

// A collector finds the names of a cell.
type collector struct {
	cell   int
	number int // of the cell in positions
	text   string
	fset   *token.FileSet
	info   *types.Info
	pkg    *types.Package
	same   map[string]string
	// imports are those of this cell and the cells above it, by the names of the packages.
	imports map[string]imported
	found   []name
}

// An imported package has the key of its import.
type imported struct {
	key string
	pkg *types.Package
}

func (c *collector) collect(file *ast.File) []name {
	typed := map[*ast.Ident]bool{}
	for _, spec := range file.Imports {
		c.addImport(spec)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for i, x := range n.Lhs {
					if id, ok := x.(*ast.Ident); ok && !(len(n.Rhs) == len(n.Lhs) && showsType(n.Rhs[i])) {
						typed[id] = true
					}
				}
			}
		case *ast.RangeStmt:
			for _, x := range []ast.Expr{n.Key, n.Value} {
				if id, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE {
					typed[id] = true
				}
			}
		case *ast.Ident:
			c.add(n, typed[n])
		}
		return true
	})
	slices.SortFunc(c.found, func(x, y name) int { return x.start - y.start })
	return slices.CompactFunc(c.found, func(x, y name) bool { return x.start == y.start })
}

// showsType reports whether the text of an expression says its type: a composite literal, or its address.
func showsType(x ast.Expr) bool {
	if u, ok := x.(*ast.UnaryExpr); ok {
		x = u.X
	}
	switch x.(type) {
	case *ast.CompositeLit, *ast.FuncLit, *ast.BasicLit:
		return true
	}
	return false
}

// offset returns the offset of a position, if it is in the text of the cell.
func (c *collector) offset(p token.Position) (offset int, ok bool) {
	if number, ok := check.FileNumber(p.Filename); !ok || number != c.number || p.Line < 1 {
		return 0, false
	}
	return offsetOf(c.text, p.Line, p.Column), true
}

// addImport notes the name of an import that is written in the cell.
func (c *collector) addImport(spec *ast.ImportSpec) {
	o, _ := c.info.Implicits[spec].(*types.PkgName)
	if spec.Name != nil {
		o, _ = c.info.Defs[spec.Name].(*types.PkgName)
	}
	start, ok := c.offset(c.fset.Position(spec.Pos()))
	if !ok || o == nil || strings.Contains(o.Name(), "ʹ") {
		return
	}
	c.imports[o.Name()] = imported{c.key(o), o.Imported()}
	if spec.Name != nil {
		c.add(spec.Name, false)
	}
	if strings.HasPrefix(c.text[start:], spec.Path.Value) {
		c.found = append(c.found, name{place: place{c.cell, start, start + len(spec.Path.Value)}, text: o.Name(), object: o, key: c.key(o), defines: true, unnamed: true})
	}
}

func (c *collector) add(id *ast.Ident, typed bool) {
	if id.Name == "_" || strings.Contains(id.Name, "ʹ") || !id.Pos().IsValid() {
		return
	}
	start, ok := c.offset(c.fset.Position(id.Pos()))
	if !ok || !strings.HasPrefix(c.text[start:], id.Name) { // an import that was added, or the text of a command
		return
	}
	n := name{place: place{c.cell, start, start + len(id.Name)}, text: id.Name}
	defined, isDefinition := c.info.Defs[id]
	used := c.info.Uses[id]
	n.object, n.defines = used, isDefinition
	switch {
	case defined != nil:
		n.object = defined
		if used != nil { // an embedded field
			if from, to := c.key(defined), c.key(used); from != "" && to != "" && from != to {
				c.same[from] = to
			}
		}
	case isDefinition: // the variable of a type switch, of which each clause has its own
		n.key = c.keyAt(id.Pos())
	case used == nil:
		return
	}
	if n.object != nil {
		n.key = c.key(n.object)
		if p, ok := n.object.(*types.PkgName); ok && n.key == "" && c.imports[n.text].pkg == p.Imported() {
			n.key = c.imports[n.text].key // a cell above imports it
		}
		if v, ok := n.object.(*types.Var); ok && typed && n.defines {
			n.typed = types.TypeString(v.Type(), c.qualifier)
		}
	}
	c.found = append(c.found, n)
}

func (c *collector) qualifier(p *types.Package) string {
	if p == c.pkg {
		return ""
	}
	return p.Name()
}

// key identifies an object by where it is defined: a declaration that is checked again has other objects.
func (c *collector) key(o types.Object) string {
	switch generic := o.(type) {
	case *types.Var:
		o = generic.Origin()
	case *types.Func:
		o = generic.Origin()
	}
	if !o.Pos().IsValid() || o.Pkg() != c.pkg {
		return ""
	}
	return c.keyAt(o.Pos())
}

func (c *collector) keyAt(pos token.Pos) string {
	p := c.fset.Position(pos)
	number, ok := check.FileNumber(p.Filename)
	if !ok {
		return ""
	}
	if number == 0 {
		number = c.cell + 1
	}
	return fmt.Sprintf("%d:%d:%d", number, p.Line, p.Column)
}

// at returns the name at an offset of a cell, or the one that ends there.
func (a *analysis) at(cell, offset int) (name, bool) {
	for _, n := range a.names {
		if n.cell == cell && n.start <= offset && offset <= n.end {
			return n, true
		}
	}
	return name{}, false
}

// of returns the names of an object that a cell defines.
func (a *analysis) of(key string) (all []name) {
	for _, n := range a.names {
		if key != "" && n.key == key {
			all = append(all, n)
		}
	}
	return all
}
