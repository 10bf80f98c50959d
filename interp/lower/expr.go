package lower

// Expressions. Each is lowered to one expression, of the same type.
//
//	m[k], k an interface, or with such fields -> m[keyʹ1(k)], which panics if k cannot be hashed
//	p.promoted                     ->  p.Base.promoted
//	(&x).f, (*p).f                 ->  unchanged
//
// See also operator.go, composite.go and conversion.go.

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/quernlab/quern/interp/origin"
)

// typeOf returns the type of e with the type arguments of the function, or nil for a package name.
func (f *functionTypes) typeOf(e ast.Expr) types.Type {
	if tv, ok := f.Info.Types[e]; ok {
		// The type checker records the generic type if an assignment infers the arguments.
		if sig, ok := tv.Type.(*types.Signature); ok && sig.TypeParams() != nil {
			if in, ok := f.Info.Instances[calleeIdent(e)]; ok {
				return f.subst(in.Type)
			}
		}
		return f.subst(tv.Type)
	}
	if id, ok := e.(*ast.Ident); ok {
		if o := f.Info.ObjectOf(id); o != nil {
			if _, ok := o.(*types.PkgName); !ok {
				return f.subst(o.Type())
			}
		}
	}
	return nil
}

// expr lowers e to an expression of its own type.
func (f *function) expr(e ast.Expr) string { return f.shorten(f.whole(e)) }

func (f *function) whole(e ast.Expr) string {
	if tv, ok := f.Info.Types[e]; ok {
		if tv.IsType() {
			return f.typ(f.subst(tv.Type))
		}
		if tv.Value != nil {
			return f.constant(tv.Value, f.subst(tv.Type))
		}
	}
	switch e := e.(type) {
	case *ast.Ident:
		return f.value(e, f.ident(e))
	case *ast.ParenExpr:
		return parenthesized(f.expr(e.X))
	case *ast.FuncLit:
		if call := f.cellCall(e); call != "" {
			return call
		}
		return f.closure(f.identifiedLiteral(e), f.typ(f.typeOf(e)))
	case *ast.CompositeLit:
		return f.composite(e)
	case *ast.SelectorExpr:
		if f.Info.Selections[e] == nil {
			return f.value(e, f.selector(e))
		}
		if text, ok := f.interfaceData(e); ok {
			return text
		}
		return f.selector(e)
	case *ast.IndexExpr:
		if text, ok := f.interfaceData(e); ok {
			return text
		}
		return f.index(e)
	case *ast.IndexListExpr:
		return f.value(e, f.reference(e.X))
	case *ast.SliceExpr:
		return f.slice(e)
	case *ast.TypeAssertExpr:
		t, source := f.typeOf(e.Type), f.typeOf(e.X)
		return f.mustHelper(t, source) + "(" + f.expr(e.X) + ")"
	case *ast.CallExpr:
		return f.call(e)
	case *ast.StarExpr:
		return "(*" + f.expr(e.X) + ")"
	case *ast.UnaryExpr:
		return f.unary(e)
	case *ast.BinaryExpr:
		return f.binary(e)
	}
	panic(fmt.Sprintf("expression %T", e))
}

// parenthesized puts x in parentheses unless it is a name: see condition.go.
func parenthesized(x string) string {
	if token.IsIdentifier(x) {
		return x
	}
	return "(" + x + ")"
}

func (f *function) ident(e *ast.Ident) string {
	o := f.Info.ObjectOf(e)
	if o == nil {
		return e.Name
	}
	switch o := o.(type) {
	case *types.Func:
		if args, ok := f.arguments(e); ok {
			return f.functionInstance(e, o, args)
		}
		if name, ok := f.names[o]; ok {
			return name
		}
		if isSource(o.Pkg()) {
			return f.sourceFunction(o)
		}
		if !origin.Interpreted(o.Pkg()) { // of a dot import
			return f.alias(o.Pkg()) + "." + o.Name()
		}
	case *types.Var:
		if name, ok := f.locals[o]; ok {
			return name
		}
		if name, ok := f.names[o]; ok {
			return name
		}
		if o.Pkg() != nil && !origin.Interpreted(o.Pkg()) && !isSource(o.Pkg()) {
			return f.compiledVariable(o)
		}
	case *types.Nil:
		return "nil"
	}
	f.unsupported(e, fmt.Sprintf("%s here (%T)", e.Name, o), "")
	return ""
}

// reference lowers the name of a declared function that is called. It lowers any other expression as
// expr does.
func (f *function) reference(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		if f.Info.Types[e].Value == nil {
			return f.ident(e)
		}
	case *ast.SelectorExpr:
		if f.Info.Selections[e] == nil {
			return f.selector(e)
		}
	case *ast.ParenExpr:
		return f.reference(e.X)
	case *ast.IndexExpr:
		return f.reference(e.X)
	case *ast.IndexListExpr:
		return f.reference(e.X)
	}
	return f.expr(e)
}

// value turns the lowered name of a declared function into a function value. From the name alone yaegi does not
// create a function, but stores its syntax tree.
//
//	return f  ->  return func(f func(int) int) func(int) int { return f }(fʹ1)
func (f *functionTypes) value(e ast.Expr, name string) string {
	id := calleeIdent(e)
	if o, ok := f.Info.Uses[id].(*types.Func); ok {
		_, instance := f.Info.Instances[id]
		if instance || o.Pkg() != nil && (origin.Interpreted(o.Pkg()) || isSource(o.Pkg())) {
			typ := f.typ(f.typeOf(e))
			return "func(f " + typ + ") " + typ + " { return f }(" + name + ")"
		}
	}
	return name
}

// operand puts x in parentheses unless it can be selected from or called as it is.
func operand(x string) string {
	if strings.HasPrefix(x, "func") || strings.HasPrefix(x, "&") || strings.HasPrefix(x, "<-") || strings.HasPrefix(x, "-") || strings.HasPrefix(x, "!") || strings.HasPrefix(x, "^") {
		return "(" + x + ")"
	}
	return x
}

func (f *function) selector(e *ast.SelectorExpr) string {
	sel := f.Info.Selections[e]
	if sel == nil {
		o := f.Info.Uses[e.Sel]
		if args, ok := f.arguments(e.Sel); ok {
			return f.functionInstance(e, o.(*types.Func), args)
		}
		if name, ok := f.names[o]; ok {
			return name
		}
		if v, ok := o.(*types.Var); ok && !isSource(o.Pkg()) {
			return f.compiledVariable(v)
		}
		return f.alias(o.Pkg()) + "." + o.Name()
	}
	switch sel.Kind() {
	case types.MethodExpr:
		return f.methodExpression(e, sel)
	case types.MethodVal:
		return f.methodValue(e, sel)
	}
	t, path := f.typeOf(e.X), sel.Index()
	if f.env != nil {
		if _, index, _ := types.LookupFieldOrMethod(t, true, sel.Obj().Pkg(), sel.Obj().Name()); index != nil {
			path = index
		}
	}
	return f.field(operand(f.expr(e.X)), t, path)
}

func (f *function) index(e *ast.IndexExpr) string {
	if id := calleeIdent(e.X); id != nil {
		if _, ok := f.Info.Instances[id]; ok {
			return f.value(e, f.reference(e.X))
		}
	}
	x := operand(f.expr(e.X))
	switch u := f.coreOf(e.X).(type) {
	case *types.Map:
		if f.checksKey(e.Index, u.Key()) {
			return f.keyHelper("element", f.typeOf(e.X), u) + "(" + x + ", " + f.exprTo(e.Index, u.Key()) + ")"
		}
		return x + "[" + f.key(e.Index, u.Key()) + "]"
	case *types.Pointer:
		if array, ok := u.Elem().Underlying().(*types.Array); ok && array.Len() > largeArray {
			x = f.arrayPointer(e.X, x) + "[:]"
		} else {
			x = "(*" + x + ")"
		}
	}
	return x + "[" + f.expr(e.Index) + "]"
}

// largeArray is the length from which on elements of an array are accessed through a slice: yaegi copies the array that a
// pointer refers to, which may have less memory than its type says (*[1 << 40]byte).
const largeArray = 1 << 10

// holdsInterface reports whether values of type t are interfaces, or have some in their fields or
// elements.
func holdsInterface(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return true
	case *types.Struct:
		for v := range u.Fields() {
			if holdsInterface(v.Type()) {
				return true
			}
		}
	case *types.Array:
		return holdsInterface(u.Elem())
	}
	return false
}

// arrayPointer returns a lowered pointer to an array with its type, which yaegi loses for fields of compiled types.
func (f *functionTypes) arrayPointer(e ast.Expr, x string) string {
	return "(" + f.typ(f.typeOf(e)) + ")(" + x + ")"
}

func (f *function) slice(e *ast.SliceExpr) string {
	x := operand(f.expr(e.X))
	if _, ok := f.coreOf(e.X).(*types.Pointer); ok {
		x = f.arrayPointer(e.X, x)
	}
	s := x + "["
	if e.Low != nil {
		s += f.expr(e.Low)
	}
	s += ":"
	if e.High != nil {
		s += f.expr(e.High)
	}
	if e.Slice3 {
		s += ":" + f.expr(e.Max)
	}
	if _, ok := f.coreOf(e.X).(*types.Array); ok { // yaegi loses the type of the elements of such a field too
		return "(" + f.typ(f.typeOf(e)) + ")(" + s + "])"
	}
	return s + "]"
}
