package lower

// Shift counts:
//
//	x << n, n signed   ->  x << shiftʹ1(n), which panics if n is negative
//	x << i, i a counter from 0 or a range variable  ->  x << uint(i)
//	x << (u & 7)       ->  x << uint(u & uint(7))
//
// yaegi treats a negative count as a large one, and does not find the type of a count that is a shift itself.

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

func (f *function) shiftCount(e ast.Expr) string {
	t := f.typeOf(e)
	if v := f.Info.Types[e].Value; v != nil {
		if n, ok := constant.Uint64Val(constant.ToInt(v)); ok {
			return f.constant(constant.MakeUint64(n), types.Typ[types.Uint])
		}
	}
	b := t.Underlying().(*types.Basic)
	if b.Info()&types.IsUnsigned != 0 || f.neverNegative(e) {
		// Convert even a uint: yaegi may otherwise treat it as an operand that must have
		// the type of the other one.
		return "uint(" + f.expr(e) + ")"
	}
	helper := f.helper("shift", "shift "+f.typ(t), func(name string) {
		w := &f.out
		w.open("func %s(n %s) uint {", name, f.typ(t))
		w.open("if n < 0 {")
		w.line("panic(%s)", f.rt("NegativeShift"))
		w.close("}")
		w.line("return uint(n)")
		w.close("}")
	})
	return helper + "(" + f.expr(e) + ")"
}

// neverNegative reports whether e is a variable that is only increased from a constant, or an expression that cannot be
// negative.
func (f *function) neverNegative(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		o := f.Info.Uses[x]
		return o != nil && f.facts.Counts(o)
	case *ast.CallExpr:
		if f.Info.Types[x.Fun].IsBuiltin() {
			name := calleeIdent(x.Fun).Name
			return name == "len" || name == "cap"
		}
	case *ast.BinaryExpr:
		if x.Op == token.ADD || x.Op == token.MUL || x.Op == token.QUO || x.Op == token.REM {
			return f.countOrConstant(x.X) && f.countOrConstant(x.Y)
		}
		return x.Op == token.AND && (f.countOrConstant(x.X) || f.countOrConstant(x.Y))
	}
	return false
}

func (f *function) countOrConstant(e ast.Expr) bool {
	if v := f.Info.Types[e].Value; v != nil {
		return constant.Sign(v) >= 0
	}
	return f.neverNegative(e)
}
