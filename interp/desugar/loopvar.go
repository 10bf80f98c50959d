package desugar

// Loops of packages whose go.mod file names a language before Go 1.22. Their variables exist once for all iterations
// (https://go.dev/blog/loopvar-preview). Only variables that a pointer or a function literal refers to show the difference:
//
//	for i := 0; c; i++ {}   ->  { i := 0; for ; c; i++ {} }
//	for _, x := range y {}  ->  { var x T; for _, t1 := range y { x = t1 } }
//	L: for i := ...         ->  { i := ...; L: for ... }
//	the same and goto L     ->  L: { i := ...; Lʹ: for ... }

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/quernlab/quern/interp/facts"
)

// SharedLoopVariables changes the loops of such a function, and reports whether there were any to change. Then the facts
// must be computed again. It runs before the passes.
func (s *Source) SharedLoopVariables(known *facts.Function, body *ast.BlockStmt) bool {
	l := &loops{Source: s, facts: known}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			l.list(n.List)
		case *ast.CaseClause:
			l.list(n.Body)
		case *ast.CommClause:
			l.list(n.Body)
		}
		return true
	})
	return l.changed
}

type loops struct {
	*Source
	facts   *facts.Function
	changed bool
}

// list changes the loops that are statements of a block.
func (l *loops) list(list []ast.Stmt) {
	for i, s := range list {
		label, _ := s.(*ast.LabeledStmt)
		for label != nil {
			inner, ok := label.Stmt.(*ast.LabeledStmt)
			if !ok {
				break
			}
			label = inner
		}
		loop := &list[i]
		if label != nil {
			loop = &label.Stmt
		}
		before := l.loop(*loop)
		if before == nil {
			continue
		}
		l.changed = true
		block := &ast.BlockStmt{Lbrace: (*loop).Pos(), List: []ast.Stmt{before, *loop}, Rbrace: (*loop).End()}
		if label != nil {
			inner := &ast.Ident{NamePos: label.Label.NamePos, Name: label.Label.Name + "ʹ"}
			for _, b := range leaving(*loop, label.Label.Name) {
				b.Label = &ast.Ident{NamePos: b.Label.NamePos, Name: inner.Name}
			}
			block.List[1] = &ast.LabeledStmt{Label: inner, Colon: label.Colon, Stmt: *loop}
		}
		*loop = block
	}
}

// loop changes a loop that defines shared variables, and returns their declaration, which must stand before it. It returns
// nil for other statements.
func (l *loops) loop(s ast.Stmt) ast.Stmt {
	switch s := s.(type) {
	case *ast.ForStmt:
		init, ok := s.Init.(*ast.AssignStmt)
		if !ok || init.Tok != token.DEFINE {
			return nil
		}
		for _, e := range init.Lhs {
			if l.shared(e) != nil {
				s.Init = nil
				return init
			}
		}
	case *ast.RangeStmt:
		if s.Tok != token.DEFINE {
			return nil
		}
		group := &ast.GenDecl{TokPos: s.Pos(), Tok: token.VAR}
		var stores []ast.Stmt
		for _, e := range []*ast.Expr{&s.Key, &s.Value} {
			v := l.shared(*e)
			if v == nil {
				continue
			}
			id := (*e).(*ast.Ident)
			group.Specs = append(group.Specs, &ast.ValueSpec{Names: []*ast.Ident{id}})
			next, value := l.variableOf(id.Pos(), v.Type())
			*e = next
			stores = append(stores, assign(l.use(id.Pos(), v), l.use(id.Pos(), value)))
		}
		if len(stores) > 0 {
			s.Body.List = append(stores, s.Body.List...)
			return &ast.DeclStmt{Decl: group}
		}
	}
	return nil
}

// shared returns the variable that e defines, if something refers to it; otherwise nil.
func (l *loops) shared(e ast.Expr) *types.Var {
	id, ok := e.(*ast.Ident)
	if !ok {
		return nil
	}
	if v, ok := l.Info.Defs[id].(*types.Var); ok && l.facts.Escapes(v) {
		return v
	}
	return nil
}
