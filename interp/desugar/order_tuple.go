package desugar

// Compiled Go performs the assignments of a statement one after the other, and checks a target when it assigns to it.
// It first reads what an earlier one of them may change:
//
//	a[i], p.x, b = 1, a[j], f()  ->  t1 := f(); t2 := a[j]; a[i] = 1; p.x = t2; b = t1
//
// See ascompatee in assign.go of cmd/compile/internal/walk. Swaps of two operands do not change: the VM runs them
// correctly.

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// splits reports whether an assignment is split into several.
func (o *order) splits(s *ast.AssignStmt) bool {
	if s.Tok != token.ASSIGN || len(s.Lhs) < 2 {
		return false
	}
	if o.Records(s) {
		return false // statements before it record the errors that it overwrites
	}
	if len(s.Lhs) == 2 && len(s.Rhs) == 2 && types.ExprString(s.Lhs[0]) == types.ExprString(s.Rhs[1]) &&
		types.ExprString(s.Lhs[1]) == types.ExprString(s.Rhs[0]) {
		return false
	}
	return slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool { _, name := ast.Unparen(e).(*ast.Ident); return !name })
}

// split makes s the last of the assignments and returns the statements before it.
func (o *order) split(s *ast.AssignStmt) []ast.Stmt {
	if len(s.Lhs) != len(s.Rhs) {
		return nil
	}
	t := tupleAssignment{order: o, changed: map[types.Object]bool{}}
	var late []ast.Stmt
	for i := range s.Lhs {
		name := t.operands(&s.Lhs[i])
		t.save(&s.Rhs[i])
		late = append(late, &ast.AssignStmt{Lhs: s.Lhs[i : i+1], TokPos: s.TokPos, Tok: token.ASSIGN, Rhs: s.Rhs[i : i+1]})
		switch v, _ := name.(*types.Var); {
		case name == nil, v != nil && t.inMemory(v):
			t.writes = true
		case v != nil:
			t.changed[v] = true
		}
	}
	last := late[len(late)-1].(*ast.AssignStmt)
	s.Lhs, s.Rhs = last.Lhs, last.Rhs
	return append(t.early, late[:len(late)-1]...)
}

// tupleAssignment is an assignment that is being split.
type tupleAssignment struct {
	*order
	early   []ast.Stmt
	changed map[types.Object]bool // variables that earlier assignments set
	writes  bool                  // an earlier assignment writes to memory
}

// blank represents the target _.
var blank types.Object = types.NewLabel(token.NoPos, nil, "_")

// operands saves the operands of a target. It returns the variable that is or contains the target, or nil for memory.
func (t *tupleAssignment) operands(p *ast.Expr) types.Object {
	switch e := (*p).(type) {
	case *ast.ParenExpr:
		return t.operands(&e.X)
	case *ast.Ident:
		if e.Name == "_" {
			return blank
		}
		return t.Info.ObjectOf(e)
	case *ast.StarExpr:
		t.save(&e.X)
	case *ast.IndexExpr:
		if _, array := t.under(e.X).(*types.Array); array {
			t.save(&e.Index)
			return t.operands(&e.X)
		}
		t.save(&e.X)
		t.save(&e.Index)
	case *ast.SelectorExpr:
		sel := t.Info.Selections[e]
		if sel == nil { // a variable of a package
			return t.Info.ObjectOf(e.Sel)
		}
		if !sel.Indirect() {
			return t.operands(&e.X)
		}
		if _, pointer := t.under(e.X).(*types.Pointer); pointer {
			t.save(&e.X)
		}
	}
	return nil
}

// save assigns an expression to a variable if an earlier assignment may change its value.
func (t *tupleAssignment) save(p *ast.Expr) {
	if tv := t.Info.Types[*p]; tv.Value != nil || tv.IsType() || tv.IsNil() || !t.affected(*p) {
		return
	}
	id, v := t.variable(*p)
	t.early = append(t.early, define(id, *p))
	*p = t.use(id.NamePos, v)
}

// affected reports whether an earlier assignment may change the value of an expression without calls.
func (t *tupleAssignment) affected(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			found = found || t.writes
			return false
		case *ast.Ident:
			if v, ok := t.Info.Uses[n].(*types.Var); ok && !v.IsField() {
				found = found || t.changed[v] || t.writes && t.inMemory(v)
			}
		case *ast.StarExpr:
			found = found || t.writes && !t.Info.Types[n].IsType()
		case *ast.SelectorExpr:
			sel := t.Info.Selections[n]
			found = found || t.writes && sel != nil && sel.Indirect()
		case *ast.IndexExpr:
			if _, array := t.under(n.X).(*types.Array); !array && !t.Info.Types[n.Index].IsType() {
				found = found || t.writes
			}
		case *ast.SliceExpr, *ast.CompositeLit, *ast.TypeAssertExpr:
			found = found || t.writes
		}
		return !found
	})
	return found
}

// inMemory reports whether Go's compiler assumes that an assignment through a pointer may change a variable. Function
// literals have pointers to the variables that they share.
func (t *tupleAssignment) inMemory(v *types.Var) bool {
	return !t.facts.Declared(v) && !IsAdded(v) || t.facts.Exposed(v) || t.facts.Captured(v) && t.facts.Assigned(v)
}
