package lower

// Functions of package unsafe that are not constant:
//
//	unsafe.Slice(p, n)      ->  rtʹ.UnsafeSlice(p, int(n)).([]T)
//	unsafe.SliceData(s)     ->  rtʹ.UnsafeSliceData(s).(*T)
//	unsafe.String(p, n)     ->  rtʹ.UnsafeString(p, int(n))
//	unsafe.StringData(s)    ->  rtʹ.UnsafeStringData(s)
//	unsafe.Add(p, n)        ->  rtʹ.UnsafeAdd(p, int(n))
//
// The engine has conversions of pointers only.

import (
	"go/ast"
	"go/types"
)

// unsafe lowers a call of one of them with lowered arguments.
func (f *function) unsafe(e *ast.CallExpr, name string, arguments []string) (string, bool) {
	sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	if b, ok := f.Info.Uses[sel.Sel].(*types.Builtin); !ok || b.Pkg() != types.Unsafe {
		return "", false
	}
	if len(arguments) == 2 {
		arguments[1] = "int(" + arguments[1] + ")"
	}
	switch name {
	case "Slice", "SliceData":
		return f.rt("Unsafe"+name, arguments...) + ".(" + f.typ(f.typeOf(e)) + ")", true
	case "String", "StringData", "Add":
		return f.rt("Unsafe"+name, arguments...), true
	}
	return "", false
}
