package lower

// The first operand of && and ||:
//
//	p == (P{1, 2}) && ok  ->  func() bool { return p == Pʹ1{X: 1, Y: 2} }() && ok
//	-(x) == y || ok       ->  -x == y || ok
//
// yaegi begins with the first part of an operand that has to be computed. It uses that part as the
// condition if it is no computation of its own: a variable, but also parentheses around one, a field
// of a literal, or a type.

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
)

// condition returns x, the lowered first operand e of && or ||. It returns it as the call of a
// function if yaegi would use a part of it as the condition.
func (f *functionTypes) condition(e ast.Expr, x string) string {
	if b, ok := ast.Unparen(e).(*ast.BinaryExpr); ok && (b.Op == token.LAND || b.Op == token.LOR) && f.Info.Types[e].Value == nil {
		return x // it begins with its own first operand, which condition has already handled
	}
	text, err := parser.ParseExpr(x)
	if err == nil && !misleads(first(text)) {
		return x
	}
	typ := "bool"
	if t := f.typeOf(e); types.Identical(t.Underlying(), types.Typ[types.Bool]) {
		typ = f.typ(t)
	}
	return "func() " + typ + " { return " + x + " }()"
}

// misleads reports whether yaegi uses e as the condition if it begins with e.
func misleads(e ast.Expr) bool {
	switch e.(type) {
	case *ast.ParenExpr, *ast.KeyValueExpr, *ast.StructType, *ast.InterfaceType, *ast.FuncType, *ast.IndexListExpr, *ast.Ellipsis:
		return true
	}
	return false
}

// first returns the part of e that yaegi begins with. It never begins with names, literals of basic
// types, and most types.
func first(e ast.Expr) ast.Expr {
	if b, ok := e.(*ast.BinaryExpr); ok && (b.Op == token.LAND || b.Op == token.LOR) {
		return first(b.X)
	}
	for _, part := range parts(e) {
		switch part.(type) {
		case nil, *ast.Ident, *ast.BasicLit, *ast.ArrayType, *ast.MapType, *ast.ChanType:
		default:
			return first(part)
		}
	}
	return e
}

// parts returns the operands of e in yaegi's order.
func parts(e ast.Expr) []ast.Expr {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return []ast.Expr{e.X}
	case *ast.UnaryExpr:
		return []ast.Expr{e.X}
	case *ast.StarExpr:
		return []ast.Expr{e.X}
	case *ast.BinaryExpr:
		return []ast.Expr{e.X, e.Y}
	case *ast.KeyValueExpr:
		return []ast.Expr{e.Key, e.Value}
	case *ast.SelectorExpr:
		return []ast.Expr{e.X}
	case *ast.IndexExpr:
		return []ast.Expr{e.X, e.Index}
	case *ast.SliceExpr:
		return []ast.Expr{e.X, e.Low, e.High, e.Max}
	case *ast.TypeAssertExpr:
		return []ast.Expr{e.X, e.Type}
	case *ast.CallExpr:
		return append([]ast.Expr{e.Fun}, e.Args...)
	case *ast.CompositeLit:
		return append([]ast.Expr{e.Type}, e.Elts...)
	}
	return nil
}
