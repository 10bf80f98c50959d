package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Use before definition.
//
// Functions of a cell may use variables that its statements define. Go orders initializers at
// package level, but statements run in source order. So a statement must not use a variable that
// a later statement defines, not even through the functions that it mentions: it would read a
// zero value. A function literal counts where its variable is used, and not where it is defined.
// A deferred call runs at the end of the cell and is not followed.

// references are the package-level objects of the cell that a piece of syntax mentions, with the
// position of the first mention of each.
type references map[types.Object]token.Pos

// order finds uses of variables before their definition.
type order struct {
	*attempt
	defined map[types.Object]int        // variable to the index of the statement that defines it
	through map[types.Object]references // references of a function, or of a variable with a function literal
	last    map[types.Object]int        // object to the last definition that it is or reaches
}

func (a *attempt) orderErrors() ErrorList {
	if len(a.hoisting.index) == 0 {
		return nil
	}
	o := &order{a, map[types.Object]int{}, map[types.Object]references{}, map[types.Object]int{}}
	for id, i := range a.hoisting.index {
		if v := a.info.Defs[id]; v != nil {
			o.defined[v] = i
		}
	}
	for _, d := range a.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && f != a.body {
			if fn := a.info.Defs[f.Name]; fn != nil {
				o.through[fn] = o.references(f.Body)
			}
		}
	}
	statements := make([]references, len(a.hoisting.original))
	for i, s := range a.hoisting.original {
		statements[i] = o.statement(s)
	}
	o.findLast()
	var errs ErrorList
	for _, init := range a.info.InitOrder {
		if !a.inBody(init) {
			errs = append(errs, o.reach(-1, o.references(init.Rhs))...)
		}
	}
	for i, refs := range statements {
		if len(errs) > MaxErrors {
			break
		}
		errs = append(errs, o.reach(i, refs)...)
	}
	return errs
}

// findLast computes for each object the last definition that it reaches. It starts at the last
// definition and follows references backwards.
func (o *order) findLast() {
	from := map[types.Object][]types.Object{}
	for object, refs := range o.through {
		for to := range refs {
			from[to] = append(from[to], object)
		}
	}
	definitions := make([]types.Object, 0, len(o.defined))
	for v := range o.defined {
		definitions = append(definitions, v)
	}
	slices.SortFunc(definitions, func(x, y types.Object) int { return o.defined[y] - o.defined[x] })
	for _, v := range definitions {
		at := o.defined[v]
		for found := []types.Object{v}; len(found) > 0; {
			x := found[len(found)-1]
			found = found[:len(found)-1]
			if _, known := o.last[x]; !known {
				o.last[x] = at
				found = append(found, from[x]...)
			}
		}
	}
}

// statement returns the references of s that take effect when it runs. It records the references
// of function literals that s only assigns to a variable.
func (o *order) statement(s ast.Stmt) references {
	if l, ok := s.(*ast.LabeledStmt); ok {
		return o.statement(l.Stmt)
	}
	names, values := definitions(s)
	if len(names) > 0 && len(names) == len(values) {
		refs := references{}
		for k, v := range values {
			if lit, ok := ast.Unparen(v).(*ast.FuncLit); ok {
				if object := o.info.Defs[names[k]]; object != nil {
					o.through[object] = o.references(lit.Body)
					continue
				}
			}
			refs.add(o.references(v))
		}
		return refs
	}
	if d, ok := s.(*ast.DeferStmt); ok {
		refs := references{}
		for _, arg := range d.Call.Args {
			refs.add(o.references(arg))
		}
		return refs
	}
	return o.references(s)
}

// definitions returns the identifiers that a statement defines, and their values.
func definitions(s ast.Stmt) (names []*ast.Ident, values []ast.Expr) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Tok != token.DEFINE {
			return nil, nil
		}
		for _, e := range s.Lhs {
			id, ok := e.(*ast.Ident)
			if !ok {
				return nil, nil
			}
			names = append(names, id)
		}
		return names, s.Rhs
	case *ast.DeclStmt:
		d := s.Decl.(*ast.GenDecl)
		if d.Tok != token.VAR || len(d.Specs) != 1 {
			return nil, nil
		}
		spec := d.Specs[0].(*ast.ValueSpec)
		return spec.Names, spec.Values
	}
	return nil, nil
}

func (r references) add(more references) {
	for o, p := range more {
		r.addOne(o, p)
	}
}

func (r references) addOne(o types.Object, p token.Pos) {
	if _, ok := r[o]; !ok {
		r[o] = p
	}
}

// references returns the variables and functions of the session's package in n. An assignment to a
// variable is not a use.
func (o *order) references(n ast.Node) references {
	refs := references{}
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		switch object := o.info.Uses[id].(type) {
		case *types.Var:
			if _, mine := o.defined[object]; mine {
				refs.addOne(object, id.Pos())
			}
		case *types.Func:
			if object.Pkg() == o.pkg {
				refs.addOne(object.Origin(), id.Pos())
			}
		}
		return true
	})
	return refs
}

// reach returns the errors for the references of statement i, followed through functions.
func (o *order) reach(i int, refs references) ErrorList {
	var errs ErrorList
	for object, pos := range refs {
		if last, ok := o.last[object]; !ok || last < i {
			continue
		}
		if v := o.late(i, object, map[types.Object]bool{}); v != nil {
			line := o.fset.Position(v.Pos()).Line
			msg := fmt.Sprintf("%s is used before its definition on line %d", v.Name(), line)
			if v != object {
				msg = fmt.Sprintf("%s uses %s, which is not defined before line %d", object.Name(), v.Name(), line)
			}
			errs = append(errs, &Error{Pos: cellPosition(o.fset, pos), Msg: msg, pos: pos})
		}
	}
	return errs
}

// late returns a variable that is defined after statement i and reached from object, or nil.
func (o *order) late(i int, object types.Object, seen map[types.Object]bool) types.Object {
	if seen[object] {
		return nil
	}
	first := len(seen) == 0
	seen[object] = true
	if at, ok := o.defined[object]; ok && (at > i || at == i && !first) {
		return object
	}
	for next := range o.through[object] {
		if v := o.late(i, next, seen); v != nil {
			return v
		}
	}
	return nil
}
