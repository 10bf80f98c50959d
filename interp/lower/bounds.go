package lower

// Indices whose panic tells numbers, as Go's does:
//
//	xs[i]      ->  xs[rtʹ.Index(i, len(xs))]
//	xs[i:j]    ->  xs[rtʹ.SliceLow(i, j, -1, len(xs), cap(xs)):j]
//	f()[i]     ->  (*elementʹ1(f(), i))   where func elementʹ1(x []T, i int) *T { return &x[rtʹ.Index(i, len(x))] }
//	f()[i:j]   ->  sliceʹ1(f(), i, j)     the operand is evaluated once
//	f()[i] = 1 ->  t1 := f(); t2 := i; t1[rtʹ.Index(t2, len(t1))] = 1
//
// yaegi's panic has lost index and length. The check costs more than the
// index itself, so in loops it is only made where the operand is a call or an element
// of a map, which cost more than the check.

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
)

// absent stands for a bound that is not there; see rt.SliceLow.
const absent = -1 << 63

// checksBounds reports whether an index here is checked before yaegi does.
func (f *function) checksBounds() bool {
	return f.frame.loops == 0 && !f.facts.jumps
}

// checkedIndex lowers the index of x, which is lowered to text.
func (f *function) checkedIndex(x ast.Expr, text string, index ast.Expr) string {
	i := f.expr(index)
	if !f.checksBounds() || !f.steady(x) || f.Info.Types[index].Value != nil && f.isArray(x) {
		return i
	}
	return f.checked(i, index, "len("+text+")")
}

// checked returns the lowered index i, or Go's panic if it is not in [0, length).
func (f *function) checked(i string, index ast.Expr, length string) string {
	if f.isInt(index) {
		return f.rt("Index", i, length)
	}
	if !f.fitsInt(index) {
		return f.rt("IndexUnsigned", "uint64("+i+")", length)
	}
	return f.rt("Index", "int("+i+")", length)
}

func (f *function) isInt(e ast.Expr) bool {
	return types.Identical(f.typeOf(e), types.Typ[types.Int])
}

// inHelper reports whether e is an element that a helper must find for its panic to tell
// numbers.
func (f *function) inHelper(e ast.Expr) bool {
	x, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok || f.facts.jumps || f.steady(x.X) || f.Info.Types[x.Index].IsType() {
		return false
	}
	switch f.coreOf(x.X).(type) {
	case *types.Slice:
		return true
	case *types.Basic:
		return f.Info.Types[x.X].Value == nil || f.Info.Types[x.Index].Value == nil
	case *types.Array, *types.Pointer:
		return f.Info.Types[x.Index].Value == nil
	}
	return false
}

// element calls the helper for the element of x, which is lowered to text.
func (f *function) element(e *ast.IndexExpr, text string) string {
	t := f.typeOf(e.X)
	address := true
	var elem types.Type = types.Typ[types.Byte]
	switch u := f.coreOf(e.X).(type) {
	case *types.Slice:
		elem = u.Elem()
	case *types.Basic:
		address = false
	case *types.Array:
		elem = u.Elem()
		if address = f.Info.Types[e.X].Addressable(); address {
			text, t = addressOf(text), types.NewPointer(t)
		}
	case *types.Pointer:
		elem = u.Elem().Underlying().(*types.Array).Elem()
	}
	index := "uint64"
	if f.isInt(e.Index) || f.fitsInt(e.Index) {
		index = "int"
	}
	typ, result, operator := f.typ(t), f.typ(elem), ""
	if address {
		result, operator = "*"+result, "&"
	}
	name := f.helper("element", "element at "+index+" "+typ, func(helper string) {
		f.passed(helper, t)
		w := &f.out
		w.open("func %s(x %s, i %s) %s {", helper, typ, index, result)
		function := "Index"
		if index != "int" {
			function = "IndexUnsigned"
		}
		operand := "x"
		if _, pointer := t.Underlying().(*types.Pointer); pointer {
			operand = "(*x)"
		}
		w.line("return %s%s[%s]", operator, operand, f.rt(function, "i", "len("+operand+")"))
		w.close("}")
	})
	i := f.expr(e.Index)
	if !f.isInt(e.Index) {
		i = index + "(" + i + ")"
	}
	if address {
		return "(*" + name + "(" + text + ", " + i + "))"
	}
	return name + "(" + text + ", " + i + ")"
}

// hasHelper reports whether an element in e is found by a helper.
func (f *function) hasHelper(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		found = found || ok && f.inHelper(x)
		_, lit := n.(*ast.FuncLit)
		return !found && !lit
	})
	return found
}

// checkedLow lowers the lower bound of a slice expression on text.
func (f *function) checkedLow(e *ast.SliceExpr, text string) (string, bool) {
	bounds := []ast.Expr{e.Low, e.High, e.Max}
	if !f.checksBounds() || !f.steady(e.X) || !all(bounds, func(x ast.Expr) bool { return x == nil || f.steady(x) }) {
		return "", false
	}
	kind, present := f.boundsKind(bounds)
	if kind == "" {
		return "", false
	}
	texts := make([]string, len(bounds))
	for i, x := range bounds {
		if x != nil {
			texts[i] = kind + "(" + f.expr(x) + ")"
		}
	}
	return f.sliceLow(kind, present, texts, text, f.coreOf(e.X)), true
}

// boundsKind tells as what the bounds are checked, "int" or "uint64", or "" for a
// mixture that is not checked, and which of them are there.
func (f *function) boundsKind(bounds []ast.Expr) (kind, present string) {
	signed, unsigned := true, true
	for i, x := range bounds {
		if x != nil {
			present += "lhm"[i : i+1]
			signed, unsigned = signed && f.fitsInt(x), unsigned && f.isUnsigned(x)
		}
	}
	switch {
	case signed:
		return "int", present
	case unsigned:
		return "uint64", present
	}
	return "", present
}

// sliceLow returns the lower bound of a slice expression on text, checked. The texts of
// bounds that are not there are empty.
func (f *function) sliceLow(kind, present string, texts []string, text string, core types.Type) string {
	missing := "0"
	if kind == "int" {
		missing = strconv.Itoa(absent)
	}
	arguments := make([]string, len(texts))
	for i, t := range texts {
		if arguments[i] = t; t == "" {
			arguments[i] = missing
		}
	}
	capacity := strconv.Itoa(absent) // of a string or an array, whose length counts
	if _, slice := core.(*types.Slice); slice {
		capacity = "cap(" + text + ")"
	}
	if kind == "int" {
		return f.rt("SliceLow", arguments[0], arguments[1], arguments[2], "len("+text+")", capacity)
	}
	return f.rt("SliceLowUnsigned", strconv.Quote(present), arguments[0], arguments[1], arguments[2], "len("+text+")", capacity)
}

// sliced calls a helper for a slice expression whose operand, lowered to text, or
// bounds cannot be evaluated twice.
func (f *function) sliced(e *ast.SliceExpr, text string) (string, bool) {
	bounds := []ast.Expr{e.Low, e.High, e.Max}
	kind, present := f.boundsKind(bounds)
	if kind == "" || present == "" || f.facts.jumps || f.steady(e.X) && f.frame.loops > 0 {
		return "", false
	}
	t, core := f.typeOf(e.X), f.coreOf(e.X)
	operand := "x"
	switch core.(type) {
	case *types.Array:
		text, t, operand = addressOf(text), types.NewPointer(t), "(*x)"
	case *types.Pointer:
		operand = "(*x)"
	}
	typ, result := f.typ(t), f.typ(f.typeOf(e))
	var parameters []string
	arguments := []string{text}
	texts := make([]string, len(bounds))
	for i, x := range bounds {
		if x != nil {
			texts[i] = "lhm"[i : i+1]
			parameters = append(parameters, texts[i]+" "+kind)
			arguments = append(arguments, kind+"("+f.expr(x)+")")
		}
	}
	name := f.helper("slice", "slice "+present+" "+kind+" "+typ, func(helper string) {
		f.passed(helper, t)
		w := &f.out
		w.open("func %s(x %s, %s) %s {", helper, typ, list(parameters), result)
		s := operand + "[" + f.sliceLow(kind, present, texts, operand, core) + ":" + texts[1]
		if e.Slice3 {
			s += ":" + texts[2]
		}
		w.line("return %s]", s)
		w.close("}")
	})
	return name + "(" + list(arguments) + ")", true
}

// isUnsigned reports whether e is never negative by its type or its value.
func (f *function) isUnsigned(e ast.Expr) bool {
	if f.Info.Types[e].Value != nil {
		return true // checked by the compiler
	}
	b, ok := f.coreOf(e).(*types.Basic)
	return ok && b.Info()&types.IsUnsigned != 0
}

// steady reports whether e can be evaluated twice: it makes no call and has no effect.
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

// fitsInt reports whether every value of the type of e is an int.
func (f *function) fitsInt(e ast.Expr) bool {
	if v := f.Info.Types[e].Value; v != nil {
		return true
	}
	b, ok := f.coreOf(e).(*types.Basic)
	return ok && b.Kind() != types.Uint && b.Kind() != types.Uint64 && b.Kind() != types.Uintptr
}
