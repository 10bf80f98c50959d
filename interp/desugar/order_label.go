package desugar

// Statements whose early parts cannot stand before them: a goto leads behind its label, and the condition of a loop is
// evaluated in each iteration.
//
//	L: x += f()          ->  L: ; t1 := f(); x += t1
//	L: for range x+f()   ->  { t1 := f(); L: for range x+t1 }
//	the same and goto L  ->  L: { t1 := f(); Lʹ: for range x+t1 }
//	for x < f() {}       ->  for { t1 := f(); if x < t1 {} else { break } }
//	for ; c; x += f() {} ->  t1 := false; for { if t1 { t2 := f(); x += t2 } else { t1 = true }; if c {} else { break } }

import (
	"go/ast"
	"go/token"
	"go/types"
)

// labeled returns the statements that replace a labeled statement, or nil if it remains as it is.
func (o *order) labeled(l *ast.LabeledStmt) []ast.Stmt {
	list := o.list([]ast.Stmt{l.Stmt})
	last := list[len(list)-1]
	if len(list) == 1 && last == l.Stmt {
		return nil
	}
	var uses []*ast.BranchStmt
	switch s := l.Stmt.(type) {
	case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		uses = leaving(s, l.Label.Name)
	case *ast.IfStmt:
	default:
		l.Stmt = &ast.EmptyStmt{Semicolon: last.Pos(), Implicit: true}
		return append([]ast.Stmt{l}, list...)
	}
	block, ok := last.(*ast.BlockStmt) // list has one if the statement has an init statement
	if !ok {
		block = &ast.BlockStmt{Lbrace: l.Pos(), List: list, Rbrace: l.End()}
	}
	target := &block.List[len(block.List)-1]
	if !o.facts.JumpLabels[l.Label.Name] {
		l.Stmt, *target = *target, l
		return []ast.Stmt{block}
	}
	if len(uses) > 0 {
		label := &ast.Ident{NamePos: l.Label.NamePos, Name: l.Label.Name + "ʹ"}
		*target = &ast.LabeledStmt{Label: label, Colon: l.Colon, Stmt: *target}
		for _, b := range uses {
			b.Label = &ast.Ident{NamePos: b.Label.NamePos, Name: label.Name}
		}
	}
	l.Stmt = block
	return []ast.Stmt{l}
}

// leaving returns the break and continue statements in s with the given label.
func leaving(s ast.Stmt, label string) (list []*ast.BranchStmt) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BranchStmt:
			if n.Tok != token.GOTO && n.Label != nil && n.Label.Name == label {
				list = append(list, n)
			}
		}
		return true
	})
	return list
}

// condition moves the condition of a loop into its body if it has early parts.
func (o *order) condition(s *ast.ForStmt) {
	if s.Cond == nil {
		return
	}
	before, test := o.test(s)
	if len(before) > 0 {
		s.Body.List = append(append(before, leave(s, test)), s.Body.List...)
	}
}

// test returns a test of the condition of a loop, and the definitions of its early parts.
func (o *order) test(s *ast.ForStmt) ([]ast.Stmt, *ast.IfStmt) {
	test := &ast.IfStmt{If: s.Cond.Pos(), Cond: s.Cond, Body: &ast.BlockStmt{Lbrace: s.Cond.End(), Rbrace: s.Cond.End()}}
	return o.statement(test), test
}

// leave makes test, whose condition is that of the loop, the statement that leaves the loop.
func leave(s *ast.ForStmt, test *ast.IfStmt) ast.Stmt {
	test.Else = block(test.If, []ast.Stmt{&ast.BranchStmt{TokPos: test.If, Tok: token.BREAK}})
	s.Cond = nil
	return test
}

// post moves the post statement of a loop to the begin of its body if it has early parts. It returns the definition of
// the variable that says whether an iteration is the first one. The condition, which follows, moves with it.
func (o *order) post(s *ast.ForStmt) []ast.Stmt {
	if s.Post == nil {
		return nil
	}
	before := o.statement(s.Post)
	if len(before) == 0 {
		return nil
	}
	pos := s.Post.Pos()
	id, later := o.variableOf(pos, types.Typ[types.Bool])
	head := []ast.Stmt{&ast.IfStmt{
		If: pos, Cond: o.use(pos, later), Body: block(pos, append(before, s.Post)),
		Else: block(pos, []ast.Stmt{assign(o.use(pos, later), o.boolean(pos, true))}),
	}}
	if s.Cond != nil {
		before, test := o.test(s)
		head = append(append(head, before...), leave(s, test))
	}
	s.Post = nil
	s.Body.List = append(head, s.Body.List...)
	return []ast.Stmt{define(id, o.boolean(pos, false))}
}
