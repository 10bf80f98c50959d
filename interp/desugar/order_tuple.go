package desugar

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/quernlab/quern/interp/facts"
)

// Compiled Go performs the assignments of a statement one after the other, and checks a target when it assigns to it.
// It first reads what an earlier one of them may change:
//
//	a[i], p.x, b = 1, a[j], f()  ->  t1 := f(); t2 := a[j]; a[i] = 1; p.x = t2; b = t1
//
// See ascompatee in assign.go of cmd/compile/internal/walk. Swaps of two operands do not change: the VM runs them
// correctly.

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

// The statement m[k] = append(m[k], ...), in which compiled Go evaluates m[k] once: see mapAppend in order.go of
// cmd/compile/internal/walk. It copies the operands before the calls, unless they are variables that need no conversion:
//
//	m[g] = append(m[g], f())  ->  t1 := g; t2 := f(); m[t1] = append(m[t1], t2)

// appendToElement handles such a statement, and reports whether s is one.
func (o *order) appendToElement(s *ast.AssignStmt) bool {
	x, m := o.elementOfMap(s.Lhs[0])
	call, ok := ast.Unparen(s.Rhs[0]).(*ast.CallExpr)
	if m == nil || !ok {
		return false
	}
	if b, ok := typeutil.Callee(o.Info, call).(*types.Builtin); !ok || b.Name() != "append" || !o.acts(call) {
		return false
	}
	first, ok := ast.Unparen(call.Args[0]).(*ast.IndexExpr)
	if !ok || !o.same(x, first) {
		return false
	}
	if _, name := ast.Unparen(x.X).(*ast.Ident); name {
		o.expr(&x.X)
	} else {
		o.takeBoth(&x.X, &first.X)
	}
	if o.readsLate(m, x.Index) {
		o.expr(&x.Index)
	} else {
		o.takeBoth(&x.Index, &first.Index)
	}
	o.pending = true
	sig, _ := o.under(call.Fun).(*types.Signature)
	for i := 1; i < len(call.Args); i++ {
		o.exprTo(&call.Args[i], facts.ParameterAt(sig, i, call.Ellipsis.IsValid()))
	}
	return true
}

// takeBoth makes p an early part, whose variable also replaces q.
func (o *order) takeBoth(p, q *ast.Expr) {
	o.within(func() { o.expr(p) })
	o.takePart(part{p, func(list []ast.Stmt) (*types.Var, []ast.Stmt) {
		id, v := o.variable(*p)
		*q = o.use((*q).Pos(), v)
		return v, append(list, define(id, *p))
	}}, false)
}

// readsLate reports whether compiled Go reads the key when it accesses the map: a constant, or a variable that is passed as
// it is.
func (o *order) readsLate(m *types.Map, key ast.Expr) bool {
	tv := o.Info.Types[key]
	if tv.Value != nil {
		return true
	}
	if _, name := ast.Unparen(key).(*ast.Ident); !name {
		return false
	}
	if passedAs(m) == byAddress {
		return !o.copiesKey(m, key)
	}
	switch types.Unalias(tv.Type) {
	case types.Typ[types.String], types.Typ[types.Uint32], types.Typ[types.Uint64], types.Typ[types.UnsafePointer]:
		return true
	}
	return false
}

// same reports whether two expressions have the same value and cost nothing to evaluate twice: SameSafeExpr in
// cmd/compile/internal/ir.
func (o *order) same(a, b ast.Expr) bool {
	a, b = ast.Unparen(a), ast.Unparen(b)
	if v, w := o.Info.Types[a].Value, o.Info.Types[b].Value; v != nil || w != nil {
		return v != nil && w != nil && v.Kind() == w.Kind() && constant.Compare(v, token.EQL, w)
	}
	switch a := a.(type) {
	case *ast.Ident:
		b, ok := b.(*ast.Ident)
		return ok && o.Info.ObjectOf(a) != nil && o.Info.ObjectOf(a) == o.Info.ObjectOf(b)
	case *ast.SelectorExpr:
		b, ok := b.(*ast.SelectorExpr)
		if !ok || o.Info.ObjectOf(a.Sel) != o.Info.ObjectOf(b.Sel) {
			return false
		}
		sel := o.Info.Selections[a]
		return sel == nil || sel.Kind() == types.FieldVal && o.same(a.X, b.X)
	case *ast.StarExpr:
		b, ok := b.(*ast.StarExpr)
		return ok && o.same(a.X, b.X)
	case *ast.UnaryExpr:
		b, ok := b.(*ast.UnaryExpr)
		return ok && a.Op == b.Op && a.Op != token.ARROW && a.Op != token.AND && o.same(a.X, b.X)
	case *ast.BinaryExpr:
		b, ok := b.(*ast.BinaryExpr)
		t, isBasic := o.under(a).(*types.Basic)
		return ok && a.Op == b.Op && isBasic && t.Info()&types.IsNumeric != 0 && o.same(a.X, b.X) && o.same(a.Y, b.Y)
	case *ast.IndexExpr:
		b, ok := b.(*ast.IndexExpr)
		return ok && o.same(a.X, b.X) && o.same(a.Index, b.Index)
	case *ast.CallExpr: // a conversion between numbers
		b, ok := b.(*ast.CallExpr)
		if !ok || len(a.Args) != 1 || len(b.Args) != 1 || !o.Info.Types[a.Fun].IsType() || !o.Info.Types[b.Fun].IsType() {
			return false
		}
		t, isBasic := o.under(a).(*types.Basic)
		return isBasic && t.Info()&(types.IsNumeric|types.IsBoolean) != 0 && types.Identical(o.Info.TypeOf(a), o.Info.TypeOf(b)) && o.same(a.Args[0], b.Args[0])
	}
	return false
}
