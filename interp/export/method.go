package export

import (
	"fmt"
	"go/ast"
	"go/types"
)

// Methods that a type gets after it has been used.
//
// In a program a type has all its methods from the beginning. In a session fmt.Print shows the fields of a
// value until a later cell declares a method String. So a method is rejected if an earlier cell runs code
// that uses the type, and an interface has a method of this name.

func (p *program) lateMethods() []Problem {
	var problems []Problem
	interfaceNames := map[string]bool{}
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
			method, ok := c.references[piece.offset(f.Name.Pos())].object.(*types.Func)
			if !ok {
				continue
			}
			t := receiver(method)
			first := p.first[t]
			if declared[key{t, method.Name()}] {
				problems = append(problems, Problem{c.number, 1 + lines(c.Source[:piece.offset(f.Pos())]), fmt.Sprintf(
					"redefines the method %s of %s, and a program has only one version of a method; remove one of the two", method.Name(), t.Name())})
				continue
			}
			if t == nil || first == nil || first == c {
				declared[key{t, method.Name()}] = t != nil
				continue
			}
			declared[key{t, method.Name()}] = true
			if len(interfaceNames) == 0 {
				p.interfaceMethods(interfaceNames)
			}
			if interfaceNames[f.Name.Name] && p.runs(p.cells[first.index:i], t) {
				problems = append(problems, p.methodProblem(c, piece, f, t))
			}
		}
	}
	return problems
}

func (p *program) methodProblem(c *cell, piece *piece, f *ast.FuncDecl, t types.Object) Problem {
	return Problem{c.number, 1 + lines(c.Source[:piece.offset(f.Pos())]), fmt.Sprintf(
		"declares the method %s of %s after an earlier cell has used the type: move the method to cell %d",
		f.Name.Name, t.Name(), p.first[t].number)}
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

// receiver returns the type that declares a method.
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

// askedFor collects the names of the methods of all interfaces in the program and in its packages.
func (p *program) interfaceMethods(names map[string]bool) {
	for _, name := range []string{"Is", "As", "Unwrap", "Timeout", "Temporary", "MIMEBundle", "MIMEMetadata", "Report", "String", "Error", "Format", "GoString"} {
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
		for _, f := range c.references {
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

// runs reports whether the statements of cells may use a type, directly or through functions.
func (p *program) runs(cells []*cell, t types.Object) bool {
	uses := map[types.Object][]types.Object{} // by function
	var reached []types.Object
	for _, c := range p.cells {
		for _, piece := range c.pieces {
			f, isFunc := piece.decl.(*ast.FuncDecl)
			_, isDecl := piece.decl.(*ast.GenDecl)
			for _, offset := range c.sorted(piece.start, piece.end) {
				o := c.references[offset].object
				switch {
				case isFunc:
					function := c.references[piece.offset(f.Name.Pos())].object
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

// mentions reports whether a named type occurs in a type.
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
