package desugar

// A switch over values becomes a switch over conditions:
//
//	switch x { case a, b: }           ->  switch t := x; { case t == a, t == b: }
//	switch init; x { case a: }        ->  switch init; { default: switch t := x; { case t == a: } }
//	switch f() {}                     ->  switch _ = f(); {}
//	switch { case i: }, an interface  ->  switch { case i == true: }

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/quernlab/quern/interp/facts"
)

func switches(s *Source, _ *facts.Function, body []ast.Stmt) []ast.Stmt {
	for _, x := range body {
		ast.Inspect(x, func(n ast.Node) bool {
			if n, ok := n.(*ast.SwitchStmt); ok {
				s.conditions(n)
			}
			return true
		})
	}
	return body
}

// conditions changes one switch. It leaves an inner one to the next call.
func (s *Source) conditions(n *ast.SwitchStmt) {
	if n.Tag != nil && n.Init != nil {
		inner := &ast.SwitchStmt{Switch: n.Switch, Tag: n.Tag, Body: n.Body}
		clause := &ast.CaseClause{Case: n.Body.Lbrace, Colon: n.Body.Lbrace, Body: []ast.Stmt{inner}}
		n.Tag, n.Body = nil, &ast.BlockStmt{Lbrace: n.Body.Lbrace, List: []ast.Stmt{clause}, Rbrace: n.Body.Rbrace}
		return
	}
	var tag *types.Var
	for _, clause := range n.Body.List {
		list := clause.(*ast.CaseClause).List
		for i, e := range list {
			switch {
			case n.Tag != nil && tag == nil:
				id, v := s.variable(n.Tag)
				tag, n.Init = v, define(id, n.Tag)
				fallthrough
			case tag != nil:
				list[i] = s.equal(s.use(e.Pos(), tag), e)
			case types.IsInterface(s.Info.TypeOf(e)):
				list[i] = s.equal(e, s.boolean(e.Pos(), true))
			}
		}
	}
	if n.Tag != nil && tag == nil {
		n.Init = &ast.AssignStmt{Lhs: []ast.Expr{&ast.Ident{NamePos: n.Tag.Pos(), Name: "_"}}, TokPos: n.Tag.Pos(), Tok: token.ASSIGN, Rhs: []ast.Expr{n.Tag}}
	}
	n.Tag = nil
}

func (s *Source) equal(x, y ast.Expr) ast.Expr {
	e := &ast.BinaryExpr{X: x, OpPos: x.Pos(), Op: token.EQL, Y: y}
	s.Note(e, types.TypeAndValue{Type: types.Typ[types.Bool]})
	return e
}
