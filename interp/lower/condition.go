package lower

// Operands of && and ||:
//
//	p == P{1, 2} && ok  ->  func() bool { return p == Pʹ1{1, 2} }() && ok
//
// The engine takes a literal of a struct or a map for the condition.

import (
	"go/ast"
	"go/token"
	"go/types"
)

// condition gives the operand x of && or ||, lowered from e, as the call of a
// function if it has a literal in it.
func (f *function) condition(e ast.Expr, x string) string {
	literal := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BinaryExpr:
			return n.Op != token.LAND && n.Op != token.LOR // it has seen to it itself
		case *ast.CompositeLit:
			literal = true
		}
		return !literal
	})
	if !literal {
		return x
	}
	typ := "bool"
	if t := f.typeOf(e); types.Identical(t.Underlying(), types.Typ[types.Bool]) {
		typ = f.typ(t)
	}
	return "func() " + typ + " { return " + x + " }()"
}
