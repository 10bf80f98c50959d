package check

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Errors that a block of the cell sets and that nothing reads.
//
//	for _, text := range texts {
//		n, err := strconv.Atoi(text)    // the cell fails here if Atoi failed
//		sum += n
//	}
//
// The Go compiler rejects such a variable. It only exists in its block, so the cell fails where
// the error is set: after the statement that sets it or, if that is the head of a range or a
// select clause, at the beginning of the body. There is no place for the check in the heads of
// for statements and of labeled statements. In a function literal there is only a note about
// the variable, as in a function.

// lostErrors sets Cell.Lost.
func (a *attempt) lostErrors(cell *Cell) {
	if len(a.unusedVars) == 0 {
		return
	}
	unused := map[*types.Var]bool{}
	for id, o := range a.info.Defs {
		if v, ok := o.(*types.Var); ok && a.unusedVars[id.Pos()] && isError(v.Type()) {
			unused[v] = true
		}
	}
	l := &lost{a, cell, unused}
	for _, s := range a.hoisting.original {
		ast.Inspect(s, l.visit)
	}
}

// lost finds the statements that set unused errors.
type lost struct {
	*attempt
	cell   *Cell
	unused map[*types.Var]bool
}

func (l *lost) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncLit:
		return l.timedLiterals[n]
	case *ast.LabeledStmt:
		switch s := Unlabeled(n).(type) {
		case *ast.IfStmt:
			l.inspect(s.Body, s.Else)
			return false
		case *ast.SwitchStmt:
			l.inspect(s.Body)
			return false
		case *ast.TypeSwitchStmt:
			l.inspect(s.Body)
			return false
		}
	case *ast.ForStmt:
		l.inspect(n.Body)
		return false
	case *ast.TypeSwitchStmt:
		l.inspect(n.Init, n.Body)
		return false
	case *ast.RangeStmt:
		if _, ok := l.info.TypeOf(n.X).Underlying().(*types.Signature); ok {
			l.sets(n, n.Key)
			l.sets(n, n.Value)
		}
	case *ast.AssignStmt:
		if n.Tok == token.ASSIGN || n.Tok == token.DEFINE {
			for i, x := range n.Lhs {
				l.assigns(n, x, valueOf(n.Rhs, i, len(n.Lhs)))
			}
		}
	case *ast.DeclStmt:
		for _, spec := range n.Decl.(*ast.GenDecl).Specs {
			if spec, ok := spec.(*ast.ValueSpec); ok && len(spec.Values) > 0 {
				for i, id := range spec.Names {
					l.assigns(n, id, valueOf(spec.Values, i, len(spec.Names)))
				}
			}
		}
	}
	return true
}

// inspect visits nodes, which may be nil.
func (l *lost) inspect(nodes ...ast.Node) {
	for _, n := range nodes {
		if n != nil {
			ast.Inspect(n, l.visit)
		}
	}
}

func (l *lost) assigns(s ast.Stmt, target, value ast.Expr) {
	if id, ok := target.(*ast.Ident); ok && l.mayFail(id.Name, value) {
		l.sets(s, target)
	}
}

// sets records that s sets a variable, if that is an unused error.
func (l *lost) sets(s ast.Stmt, target ast.Expr) {
	id, ok := target.(*ast.Ident)
	if !ok {
		return
	}
	v, ok := l.info.ObjectOf(id).(*types.Var)
	if ok && l.unused[v] {
		l.cell.lose(s, Unread{Var: v, Set: cellPosition(l.fset, id.Pos())})
	}
}

func (c *Cell) lose(s ast.Stmt, u Unread) { set(&c.Lost, s, append(c.Lost[s], u)) }
