package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/quernlab/quern/interp/facts"
)

func (f *functionTypes) isMapElement(e ast.Expr) bool {
	x, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok {
		return false
	}
	_, ok = f.coreOf(x.X).(*types.Map)
	return ok
}

// replaces reports whether yaegi would give the target of the assignment of rhs another storage, or
// not assign it at all.
func (f *functionTypes) replaces(rhs ast.Expr, t types.Type) bool {
	switch x := ast.Unparen(rhs).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		return x.Op == token.ARROW
	case *ast.CallExpr:
		_, isFunc := t.Underlying().(*types.Signature)
		return isFunc
	}
	return false
}

// lvalues lowers the targets of a parallel assignment. It evaluates their operands first, because an
// assignment to one target must not change another target.
func (f *function) lvalues(w *writer, lhs []ast.Expr) []string {
	names := make([]string, len(lhs))
	for i, e := range lhs {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			if !isBlank(x) && f.defined(x) == nil {
				names[i] = f.expr(x)
			}
		case *ast.IndexExpr:
			names[i] = f.indexTarget(w, x)
		case *ast.StarExpr:
			t := f.temp()
			w.line("var %s %s = %s", t, f.typ(f.typeOf(x.X)), f.expr(x.X))
			names[i] = "*" + t
		case *ast.SelectorExpr:
			names[i] = f.fieldTarget(w, x)
		}
	}
	return names
}

func (f *function) indexTarget(w *writer, x *ast.IndexExpr) string {
	base, index := f.temp(), f.temp()
	bt := f.typeOf(x.X)
	text, typ := "", f.typ(bt)
	var it types.Type = f.typeOf(x.Index)
	switch u := bt.Underlying().(type) {
	case *types.Array:
		text, typ = f.addressOf(x.X), "*"+typ
	case *types.Map:
		text, it = f.expr(x.X), u.Key()
	default:
		text = f.expr(x.X)
	}
	w.line("var %s %s = %s", base, typ, text)
	w.line("var %s %s = %s", index, f.typ(it), f.exprTo(x.Index, it))
	if f.checksTarget(x) {
		index = f.keyHelper("storeKey", bt, f.coreOf(x.X).(*types.Map)) + "(" + base + ", " + index + ")"
	}
	return base + "[" + index + "]"
}

func (f *function) fieldTarget(w *writer, x *ast.SelectorExpr) string {
	sel := f.Info.Selections[x]
	if sel == nil || facts.Root(f.Info, f.coreOf, x) != nil {
		return f.expr(x)
	}
	base, t := f.temp(), f.typeOf(x.X)
	text, typ := "", f.typ(t)
	if _, pointer := t.Underlying().(*types.Pointer); pointer {
		text = f.expr(x.X)
	} else {
		text, typ = f.addressOf(x.X), "*"+typ
	}
	w.line("var %s %s = %s", base, typ, text)
	return f.field(base, t, sel.Index())
}

// addressOf lowers &x, but a nil pointer in x does not panic: a part of x is accessed next. yaegi rejects &**p.
func (f *function) addressOf(x ast.Expr) string {
	if star, ok := ast.Unparen(x).(*ast.StarExpr); ok {
		return f.expr(star.X)
	}
	return addressOf(f.expr(x))
}

// increment lowers x++ and x--, which leave the function in yaegi if x is a uintptr.
func (f *functionTypes) increment(x string, s *ast.IncDecStmt) string {
	if b, ok := f.coreOf(s.X).(*types.Basic); ok && b.Kind() == types.Uintptr {
		return x + " " + s.Tok.String()[:1] + "= 1"
	}
	return x + s.Tok.String()
}

// plainSwap reports whether yaegi executes a parallel assignment correctly: the values are variables,
// elements and arithmetic, and no target is a map element. yaegi does not know the type of nil, nor
// that of a field of a compiled struct.
func (f *functionTypes) plainSwap(s *ast.AssignStmt) bool {
	for i, e := range s.Lhs {
		if isBlank(e) || types.IsInterface(f.typeOf(e)) {
			return false
		}
		if f.isMapElement(e) || isNil(f.typeOf(s.Rhs[i])) {
			return false
		}
		plain := true
		for _, x := range []ast.Expr{e, s.Rhs[i]} {
			ast.Inspect(x, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr, *ast.CompositeLit, *ast.FuncLit, *ast.TypeAssertExpr, *ast.StarExpr, *ast.SelectorExpr:
					plain = false
				case *ast.UnaryExpr:
					plain = plain && n.Op != token.ARROW && n.Op != token.AND
				}
				return plain
			})
		}
		if !plain {
			return false
		}
	}
	return true
}
