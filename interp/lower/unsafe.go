package lower

// Functions of package unsafe with values that are not constant:
//
//	unsafe.Slice(p, n)      ->  rtʹ.UnsafeSlice(p, int(n)).([]T)
//	unsafe.SliceData(s)     ->  rtʹ.UnsafeSliceData(s).(*T)
//	unsafe.String(p, n)     ->  rtʹ.UnsafeString(p, int(n))
//	unsafe.StringData(s)    ->  rtʹ.UnsafeStringData(s)
//	unsafe.Add(p, n)        ->  rtʹ.UnsafeAdd(p, int(n))
//	unsafe.Sizeof(x), x of a type parameter  ->  func() uintptr { return 8 }()
//
// yaegi only has pointer conversions. The size must not be a constant in yaegi, because yaegi would then treat expressions with it as
// constants, too.

import (
	"fmt"
	"go/ast"
	"go/types"
	"runtime"
)

// sizes are the sizes in compiled Go, and also in lowered code.
var sizes = types.SizesFor("gc", runtime.GOARCH)

// isUnsafe reports whether e calls a function of package unsafe.
func (f *functionTypes) isUnsafe(e *ast.CallExpr) bool {
	sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	b, ok := f.Info.Uses[sel.Sel].(*types.Builtin)
	return ok && b.Pkg() == types.Unsafe
}

// measure lowers a call of Sizeof, Alignof or Offsetof.
func (f *functionTypes) measure(e *ast.CallExpr, name string) string {
	var n int64
	switch x := ast.Unparen(e.Args[0]); name {
	case "Sizeof":
		n = sizes.Sizeof(f.typeOf(x))
	case "Alignof":
		n = sizes.Alignof(f.typeOf(x))
	case "Offsetof":
		sel := x.(*ast.SelectorExpr)
		t := f.typeOf(sel.X)
		_, path, _ := types.LookupFieldOrMethod(t, true, f.Info.Uses[sel.Sel].Pkg(), sel.Sel.Name)
		for _, i := range path {
			s := under(t).(*types.Struct)
			n += sizes.Offsetsof(structFields(s))[i]
			t = s.Field(i).Type()
		}
	}
	return fmt.Sprintf("func() uintptr { return %d }()", n)
}

func structFields(s *types.Struct) []*types.Var {
	fields := make([]*types.Var, s.NumFields())
	for i := range fields {
		fields[i] = s.Field(i)
	}
	return fields
}

// unsafe lowers a call of another function of package unsafe with lowered arguments.
func (f *functionTypes) unsafe(e *ast.CallExpr, name string, arguments []string) (string, bool) {
	if !f.isUnsafe(e) {
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
