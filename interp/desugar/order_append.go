package desugar

// The statement m[k] = append(m[k], ...), in which compiled Go evaluates m[k] once: see mapAppend in order.go of
// cmd/compile/internal/walk. It copies the operands before the calls, unless they are variables that need no conversion:
//
//	m[g] = append(m[g], f())  ->  t1 := g; t2 := f(); m[t1] = append(m[t1], t2)

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/quernlab/quern/interp/facts"
)

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
