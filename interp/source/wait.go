package source

import (
	"go/ast"
	"go/types"
)

// canWait reports whether it makes no difference when an initializer runs, or whether it runs at
// all: it calls nothing but errors.New, reads no variable and cannot panic.
func canWait(p *loadedPackage, init *types.Initializer) bool {
	return len(init.Lhs) == 1 && isValue(p, init.Rhs)
}

// isValue reports whether an expression consists of constants, functions, literals and addresses
// of variables.
func isValue(p *loadedPackage, e ast.Expr) bool {
	tv := p.info.Types[e]
	if tv.Value != nil || tv.IsNil() || tv.IsType() {
		return true
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return isValue(p, e.X)
	case *ast.FuncLit:
		return true
	case *ast.Ident:
		_, function := p.info.Uses[e].(*types.Func)
		return function
	case *ast.IndexExpr: // an instance of a generic function
		return isFunction(p, e.X)
	case *ast.IndexListExpr:
		return isFunction(p, e.X)
	case *ast.SelectorExpr:
		if sel := p.info.Selections[e]; sel != nil {
			return sel.Kind() == types.MethodExpr
		}
		return isFunction(p, e)
	case *ast.UnaryExpr:
		if e.Op.String() != "&" {
			return false
		}
		switch x := ast.Unparen(e.X).(type) {
		case *ast.CompositeLit:
			return isValue(p, x)
		case *ast.Ident:
			return true
		}
		return false
	case *ast.CompositeLit:
		return isLiteral(p, e)
	case *ast.CallExpr:
		return isConversion(p, e) || isNewError(p, e)
	}
	return false
}

func isFunction(p *loadedPackage, e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		_, ok := p.info.Uses[e].(*types.Func)
		return ok
	case *ast.SelectorExpr:
		_, ok := p.info.Uses[e.Sel].(*types.Func)
		return ok && p.info.Selections[e] == nil
	}
	return false
}

// isLiteral is isValue for a composite literal. A key of an interface type may be impossible to
// hash.
func isLiteral(p *loadedPackage, e *ast.CompositeLit) bool {
	if p.tables[e] {
		return true
	}
	t := p.info.Types[e].Type.Underlying()
	if pointer, ok := t.(*types.Pointer); ok { // inside another literal
		t = pointer.Elem().Underlying()
	}
	m, isMap := t.(*types.Map)
	if isMap {
		if _, basic := m.Key().Underlying().(*types.Basic); !basic {
			return false
		}
	}
	_, isStruct := t.(*types.Struct)
	for _, x := range e.Elts {
		if pair, ok := x.(*ast.KeyValueExpr); ok {
			if !isStruct && !isValue(p, pair.Key) {
				return false
			}
			x = pair.Value
		}
		if !isValue(p, x) {
			return false
		}
	}
	return true
}

// isNewError reports whether a call makes an error with a constant text.
func isNewError(p *loadedPackage, e *ast.CallExpr) bool {
	sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	f, ok := p.info.Uses[sel.Sel].(*types.Func)
	return ok && f.FullName() == "errors.New" && p.info.Types[e.Args[0]].Value != nil
}

// isConversion reports whether a call is a conversion that cannot panic, or a call of new.
func isConversion(p *loadedPackage, e *ast.CallExpr) bool {
	if len(e.Args) != 1 {
		return false
	}
	fun := p.info.Types[e.Fun]
	if !fun.IsType() {
		id, ok := ast.Unparen(e.Fun).(*ast.Ident)
		return ok && fun.IsBuiltin() && id.Name == "new" && p.info.Types[e.Args[0]].IsType()
	}
	switch to := fun.Type.Underlying().(type) {
	case *types.Array:
		return false
	case *types.Pointer:
		if _, array := to.Elem().Underlying().(*types.Array); array {
			return false
		}
	}
	return isValue(p, e.Args[0])
}
