package export

import (
	"fmt"
	"go/ast"
	"go/types"
)

// Methods that a type gets after it has been used.
//
// In a program a type has its methods from the beginning. In a session fmt.Print
// of a value shows its fields until a later cell gives the type a method String.
// So such a method is refused where a cell before it has run code that knows the
// type, if any interface asks for a method of that name.

func (p *program) lateMethods() []Objection {
	var objections []Objection
	asked := map[string]bool{}
	type key struct {
		receiver types.Object
		name     string
	}
	declared := map[key]bool{}
	for i, c := range p.cells {
		for _, piece := range c.pieces {
			f, ok := piece.decl.(*ast.FuncDecl)
			if !ok || f.Recv == nil || c.dropped(piece) {
				continue
			}
			method, ok := c.facts[piece.offset(f.Name.Pos())].object.(*types.Func)
			if !ok {
				continue
			}
			t := receiver(method)
			first := p.first[t]
			if declared[key{t, method.Name()}] {
				objections = append(objections, Objection{c.place, 1 + lines(c.Source[:piece.offset(f.Pos())]), fmt.Sprintf(
					"it redefines the method %s of %s, which a program cannot do", method.Name(), t.Name())})
				continue
			}
			if t == nil || first == nil || first == c {
				declared[key{t, method.Name()}] = t != nil
				continue
			}
			declared[key{t, method.Name()}] = true
			if len(asked) == 0 {
				p.askedFor(asked)
			}
			if asked[f.Name.Name] && p.runs(p.cells[first.place-1:i], t) {
				objections = append(objections, p.methodObjection(c, piece, f, t))
			}
		}
	}
	return objections
}

func (p *program) methodObjection(c *cell, piece *piece, f *ast.FuncDecl, t types.Object) Objection {
	return Objection{c.place, 1 + lines(c.Source[:piece.offset(f.Pos())]), fmt.Sprintf(
		"it gives %s the method %s, without which an earlier cell has used values of the type: declare it in cell %d",
		t.Name(), f.Name.Name, p.first[t].place)}
}

func lines(s string) int {
	n := 0
	for _, b := range []byte(s) {
		if b == '\n' {
			n++
		}
	}
	return n
}

// receiver returns the type that a method belongs to.
func receiver(f *types.Func) types.Object {
	t := types.Unalias(f.Signature().Recv().Type())
	if pointer, ok := t.(*types.Pointer); ok {
		t = types.Unalias(pointer.Elem())
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj()
	}
	return nil
}

// askedFor collects the names of the methods of all interfaces that the program
// knows, directly or through its packages.
func (p *program) askedFor(names map[string]bool) {
	for _, name := range []string{"Is", "As", "Unwrap", "Timeout", "Temporary", "MIMEBundle", "MIMEMetadata", "String", "Error", "Format", "GoString"} {
		names[name] = true
	}
	seen := map[*types.Package]bool{}
	var visit func(q *types.Package)
	visit = func(q *types.Package) {
		if seen[q] {
			return
		}
		seen[q] = true
		for _, name := range q.Scope().Names() {
			if t, ok := q.Scope().Lookup(name).(*types.TypeName); ok {
				if i, ok := t.Type().Underlying().(*types.Interface); ok {
					for m := range i.Methods() {
						names[m.Name()] = true
					}
				}
			}
		}
		for _, i := range q.Imports() {
			visit(i)
		}
	}
	for _, c := range p.cells {
		for _, f := range c.facts {
			if q, ok := f.object.(*types.PkgName); ok {
				visit(q.Imported())
			}
		}
		for _, piece := range c.pieces {
			ast.Inspect(piece.node(), func(n ast.Node) bool {
				if i, ok := n.(*ast.InterfaceType); ok {
					for _, m := range i.Methods.List {
						for _, name := range m.Names {
							names[name.Name] = true
						}
					}
				}
				return true
			})
		}
	}
}

// runs reports whether the statements of cells reach anything that has to do with a
// type.
func (p *program) runs(cells []*cell, t types.Object) bool {
	uses := map[types.Object][]types.Object{} // of functions
	var reached []types.Object
	for _, c := range p.cells {
		for _, piece := range c.pieces {
			f, isFunc := piece.decl.(*ast.FuncDecl)
			_, isDecl := piece.decl.(*ast.GenDecl)
			for _, offset := range c.sorted(piece.start, piece.end) {
				o := c.facts[offset].object
				switch {
				case isFunc:
					function := c.facts[piece.offset(f.Name.Pos())].object
					uses[function] = append(uses[function], o)
				case piece.stmt != nil || isDecl && p.isVariable(piece):
					if contains(cells, c) {
						reached = append(reached, o)
					}
				}
			}
		}
	}
	seen := map[types.Object]bool{}
	for len(reached) > 0 {
		o := reached[len(reached)-1]
		reached = reached[:len(reached)-1]
		if seen[o] {
			continue
		}
		seen[o] = true
		if o == t || mentions(o.Type(), t, map[types.Type]bool{}) {
			return true
		}
		if f, ok := o.(*types.Func); ok {
			reached = append(reached, uses[f.Origin()]...)
		}
	}
	return false
}

func (p *program) isVariable(piece *piece) bool {
	d, ok := piece.decl.(*ast.GenDecl)
	return ok && len(d.Specs) > 0 && isValue(d)
}

func isValue(d *ast.GenDecl) bool {
	_, ok := d.Specs[0].(*ast.ValueSpec)
	return ok
}

func contains(cells []*cell, c *cell) bool {
	for _, other := range cells {
		if other == c {
			return true
		}
	}
	return false
}

// mentions reports whether a type is made of a named one.
func mentions(t types.Type, of types.Object, seen map[types.Type]bool) bool {
	if t == nil || seen[t] {
		return false
	}
	seen[t] = true
	each := func(list ...types.Type) bool {
		for _, e := range list {
			if mentions(e, of, seen) {
				return true
			}
		}
		return false
	}
	switch t := t.(type) {
	case *types.Named:
		if t.Obj() == of || t.Obj().Pkg() == of.Pkg() && each(t.Underlying()) {
			return true
		}
		for a := range t.TypeArgs().Types() {
			if each(a) {
				return true
			}
		}
	case *types.Alias:
		return each(types.Unalias(t))
	case *types.Pointer:
		return each(t.Elem())
	case *types.Slice:
		return each(t.Elem())
	case *types.Array:
		return each(t.Elem())
	case *types.Chan:
		return each(t.Elem())
	case *types.Map:
		return each(t.Key(), t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if each(f.Type()) {
				return true
			}
		}
	case *types.Signature:
		for _, tuple := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range tuple.Variables() {
				if each(v.Type()) {
					return true
				}
			}
		}
	}
	return false
}
