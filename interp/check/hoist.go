package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// outerSuffix marks, during a check, a name with the meaning that it had before the cell: the
// right x of x := x + 1.
const outerSuffix = "ʹouter"

// A hoisting turns the variables that top-level statements define into package-level variables
// during the check:
//
//	x := f()            → var x = f()                and an empty statement
//	b, err := f()       → var b, tmpʹ1 = f()         and err = tmpʹ1
//	n, total := 1, 2    → var n = 1                  and total = 2
//	var y T             → itself, at package level   and an empty statement
//
// The new declarations use the identifiers and expressions of the statements, so that go/types
// records facts about the user's nodes. Afterwards the statements are restored.
type hoisting struct {
	unit     *unit
	original []ast.Stmt            // the statements of the body
	decls    []ast.Decl            // the declarations made from them
	names    map[string]*ast.Ident // hoisted name to its first defining identifier
	index    map[*ast.Ident]int    // defining identifier to the index of its statement in original
	outer    []*ast.Ident          // identifiers renamed with outerSuffix
	declared map[string]bool       // variables that declarations before the first statement declare
	errs     ErrorList
}

func (u *unit) hoist(fset *token.FileSet) *hoisting {
	h := &hoisting{
		unit:     u,
		original: append([]ast.Stmt(nil), u.body.Body.List...),
		names:    map[string]*ast.Ident{},
		index:    map[*ast.Ident]int{},
		declared: u.declaredVars(),
	}
	list := u.body.Body.List
	for i, s := range h.original {
		list[i] = h.statement(fset, i, s)
	}
	h.renameOuter()
	return h
}

// statement hoists the variables of s and returns the statement that remains in the body.
func (h *hoisting) statement(fset *token.FileSet, i int, s ast.Stmt) ast.Stmt {
	switch s := s.(type) {
	case *ast.LabeledStmt:
		inner := h.statement(fset, i, s.Stmt)
		if inner == s.Stmt {
			return s
		}
		return &ast.LabeledStmt{Label: s.Label, Colon: s.Colon, Stmt: inner}
	case *ast.DeclStmt:
		decl := s.Decl.(*ast.GenDecl)
		if decl.Tok != token.VAR {
			return s
		}
		for _, spec := range decl.Specs {
			spec := spec.(*ast.ValueSpec)
			for _, name := range spec.Names {
				h.define(i, name)
			}
		}
		h.decls = append(h.decls, decl)
		return &ast.EmptyStmt{Semicolon: s.Pos(), Implicit: true}
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			return h.shortDefinition(fset, i, s)
		}
	}
	return s
}

func (h *hoisting) shortDefinition(fset *token.FileSet, i int, s *ast.AssignStmt) ast.Stmt {
	var known []int
	fresh := 0
	for k, e := range s.Lhs {
		id, ok := e.(*ast.Ident)
		switch {
		case !ok:
			return s // go/types reports that this is not a name
		case id.Obj == nil || id.Obj.Decl != s || h.declared[id.Name]:
			known = append(known, k)
		case id.Name != "_":
			fresh++
		}
	}
	position := cellPosition(fset, s.TokPos)
	if fresh == 0 {
		h.errs = append(h.errs, &Error{Pos: position, Msg: "no new variables on left side of :="})
		return s
	}
	if len(s.Rhs) != 1 && len(s.Rhs) != len(s.Lhs) {
		return s // the type checker reports it
	}
	var rest []ast.Stmt
	spec := &ast.ValueSpec{}
	add := func(names []*ast.Ident, values []ast.Expr) {
		spec := &ast.ValueSpec{Names: names, Values: values}
		h.decls = append(h.decls, &ast.GenDecl{TokPos: s.Pos(), Tok: token.VAR, Specs: []ast.Spec{spec}})
	}
	pairwise := len(known) > 0 && len(s.Rhs) == len(s.Lhs)
	for k, e := range s.Lhs {
		id := e.(*ast.Ident)
		old := len(known) > 0 && known[0] == k
		if old {
			known = known[1:]
		} else if id.Name != "_" {
			h.define(i, id)
		}
		switch {
		case pairwise && old:
			rest = append(rest, &ast.AssignStmt{Lhs: []ast.Expr{id}, TokPos: s.TokPos, Tok: token.ASSIGN, Rhs: []ast.Expr{s.Rhs[k]}})
		case pairwise:
			add([]*ast.Ident{id}, []ast.Expr{s.Rhs[k]})
		case old:
			name := fmt.Sprintf("tmpʹ%dʹ%d", i, k)
			spec.Names = append(spec.Names, &ast.Ident{NamePos: id.NamePos, Name: name})
			rest = append(rest, &ast.AssignStmt{Lhs: []ast.Expr{id}, TokPos: s.TokPos, Tok: token.ASSIGN,
				Rhs: []ast.Expr{&ast.Ident{NamePos: id.NamePos, Name: name}}})
		default:
			spec.Names = append(spec.Names, id)
		}
	}
	if !pairwise {
		add(spec.Names, s.Rhs)
	}
	switch len(rest) {
	case 0:
		return &ast.EmptyStmt{Semicolon: s.Pos(), Implicit: true}
	case 1:
		return rest[0]
	}
	return &ast.BlockStmt{Lbrace: s.Pos(), List: rest, Rbrace: s.End()}
}

func (h *hoisting) define(i int, name *ast.Ident) {
	if name.Name == "_" {
		return
	}
	if h.names[name.Name] == nil {
		h.names[name.Name] = name
	}
	h.index[name] = i
}

// renameOuter marks the uses of a hoisted name in statements before its definition. The parser
// resolves names block by block, so these are the names that it left unresolved.
func (h *hoisting) renameOuter() {
	body := h.unit.body.Body
	rename := func(id *ast.Ident) {
		if h.names[id.Name] != nil && body.Pos() <= id.Pos() && id.Pos() < body.End() {
			h.outer = append(h.outer, id)
			id.Name += outerSuffix
		}
	}
	for _, id := range h.unit.file.Unresolved {
		rename(id)
	}
	for _, s := range h.original {
		ast.Inspect(s, func(n ast.Node) bool {
			if lit, ok := n.(*ast.CompositeLit); ok && lit.Type != nil {
				renameKeys(lit, lit.Type, rename)
			}
			return true
		})
	}
}

// renameKeys calls rename for the keys of a map or array literal that the parser left
// unresolved. The parser does not list them, because it cannot distinguish them from struct
// fields. Neither can this function if the type is only a name; then orderErrors rejects the
// use.
func renameKeys(lit *ast.CompositeLit, typ ast.Expr, rename func(*ast.Ident)) {
	var key, elem ast.Expr
	switch t := typ.(type) {
	case *ast.MapType:
		key, elem = t.Key, t.Value
	case *ast.ArrayType:
		elem = t.Elt
	default:
		return
	}
	for _, e := range lit.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			if id, ok := pair.Key.(*ast.Ident); ok && id.Obj == nil {
				rename(id)
			}
			if inner, ok := pair.Key.(*ast.CompositeLit); ok && inner.Type == nil {
				renameKeys(inner, key, rename)
			}
			e = pair.Value
		}
		if inner, ok := e.(*ast.CompositeLit); ok && inner.Type == nil {
			renameKeys(inner, elem, rename)
		}
	}
}

// declaredVars returns the variables of the var declarations before the first statement of the
// cell. For the user they are in the same scope.
func (u *unit) declaredVars() map[string]bool {
	names := map[string]bool{}
	for _, d := range u.file.Decls {
		for _, name := range definedNames(d) {
			names[name] = true
		}
	}
	return names
}

// restore puts the user's names and statements back, and resolves the uses of outer names to
// the original objects.
func (h *hoisting) restore(info *types.Info, originals map[types.Object]types.Object) {
	h.unit.body.Body.List = h.original
	for _, id := range h.outer {
		id.Name = plainName(id.Name)
		if o := originals[info.Uses[id]]; o != nil {
			info.Uses[id] = o
		}
	}
}

// alias returns an object with the given name that otherwise equals o, or nil if there is no
// such kind of object.
func alias(name string, o types.Object) types.Object {
	switch o := o.(type) {
	case *types.Var:
		return types.NewVar(o.Pos(), o.Pkg(), name, o.Type())
	case *types.Const:
		return types.NewConst(o.Pos(), o.Pkg(), name, o.Type(), o.Val())
	case *types.Func:
		return types.NewFunc(o.Pos(), o.Pkg(), name, o.Type().(*types.Signature))
	case *types.TypeName:
		return types.NewTypeName(o.Pos(), o.Pkg(), name, o.Type())
	}
	return nil
}
