package lower

// Indices whose panic tells numbers, as Go's does:
//
//	xs[i]      ->  xs[rtʹ.Index(i, len(xs))]
//	xs[i:j]    ->  xs[rtʹ.SliceLow(i, j, -1, len(xs), cap(xs)):j]
//
// The engine's panic has lost index and length. The check costs more than the
// index itself, so it is not made in loops.

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
)

// absent stands for a bound that is not there; see rt.SliceLow.
const absent = -1 << 63

// checksBounds tells whether an index here is checked before the engine does.
func (f *function) checksBounds() bool {
	return f.frame.loops == 0 && !f.facts.jumps
}

// checkedIndex lowers the index of x, which is lowered to text.
func (f *function) checkedIndex(x ast.Expr, text string, index ast.Expr) string {
	i := f.expr(index)
	if !f.checksBounds() || !f.steady(x) || f.Info.Types[index].Value != nil && f.isArray(x) {
		return i
	}
	if !types.Identical(f.typeOf(index), types.Typ[types.Int]) {
		if !f.fitsInt(index) {
			return f.rt("IndexUnsigned", "uint64("+i+")", "len("+text+")")
		}
		i = "int(" + i + ")"
	}
	return f.rt("Index", i, "len("+text+")")
}

// checkedLow lowers the lower bound of a slice expression on text.
func (f *function) checkedLow(e *ast.SliceExpr, text string) (string, bool) {
	if !f.checksBounds() || !f.steady(e.X) {
		return "", false
	}
	signed, unsigned, present := true, true, ""
	bounds := []ast.Expr{e.Low, e.High, e.Max}
	for i, x := range bounds {
		if x == nil {
			continue
		}
		if !f.steady(x) {
			return "", false
		}
		present += "lhm"[i : i+1]
		signed, unsigned = signed && f.fitsInt(x), unsigned && f.isUnsigned(x)
	}
	if !signed && !unsigned {
		return "", false
	}
	var texts [3]string
	for i, x := range bounds {
		switch {
		case x != nil && signed:
			texts[i] = "int(" + f.expr(x) + ")"
		case x != nil:
			texts[i] = "uint64(" + f.expr(x) + ")"
		case signed:
			texts[i] = strconv.Itoa(absent)
		default:
			texts[i] = "0"
		}
	}
	capacity := strconv.Itoa(absent) // of a string or an array, whose length counts
	if _, slice := f.coreOf(e.X).(*types.Slice); slice {
		capacity = "cap(" + text + ")"
	}
	if !signed {
		return f.rt("SliceLowUnsigned", strconv.Quote(present), texts[0], texts[1], texts[2], "len("+text+")", capacity), true
	}
	return f.rt("SliceLow", texts[0], texts[1], texts[2], "len("+text+")", capacity), true
}

// isUnsigned tells whether e is never negative by its type or its value.
func (f *function) isUnsigned(e ast.Expr) bool {
	if f.Info.Types[e].Value != nil {
		return true // checked by the compiler
	}
	b, ok := f.coreOf(e).(*types.Basic)
	return ok && b.Info()&types.IsUnsigned != 0
}

// steady tells whether e can be evaluated twice: it makes no call and has no effect.
func (f *function) steady(e ast.Expr) bool {
	if f.Info.Types[e].Value != nil {
		return true
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		sel := f.Info.Selections[e]
		return sel == nil || sel.Kind() == types.FieldVal && f.steady(e.X)
	case *ast.StarExpr:
		return f.steady(e.X)
	case *ast.BinaryExpr:
		switch e.Op {
		case token.ADD, token.SUB, token.MUL:
			return f.steady(e.X) && f.steady(e.Y)
		}
	case *ast.UnaryExpr:
		return e.Op == token.SUB && f.steady(e.X)
	case *ast.CallExpr:
		if f.Info.Types[e.Fun].IsBuiltin() && len(e.Args) == 1 {
			name := calleeIdent(e.Fun).Name
			return (name == "len" || name == "cap") && f.steady(e.Args[0])
		}
	}
	return false
}

func (f *function) isArray(e ast.Expr) bool {
	_, ok := f.coreOf(e).(*types.Array)
	return ok
}

// fitsInt tells whether every value of the type of e is an int.
func (f *function) fitsInt(e ast.Expr) bool {
	if v := f.Info.Types[e].Value; v != nil {
		return true
	}
	b, ok := f.coreOf(e).(*types.Basic)
	return ok && b.Kind() != types.Uint && b.Kind() != types.Uint64 && b.Kind() != types.Uintptr
}
