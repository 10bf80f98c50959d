package lower

// Builtins:
//
//	min(a, b, c)     ->  minʹ1(minʹ1(a, b), c)
//	clear(x)         ->  rtʹ.Clear(x)
//	len(p), p *[3]T  ->  func(*[3]T) int { return 3 }(p)
//	make(<-chan T)   ->  (<-chan T)(make(chan T))
//	new(expr)        ->  func(v T) *T { return &v }(expr)
//	print, println   ->  rtʹ.BuiltinPrint, rtʹ.BuiltinPrintln: to stderr, as Go
//	recover()        ->  dʹ.Recover() in a deferred literal, else rtʹ.Recover()
//	append(s, v), delete(m, k), panic(v): v and k become the element, key, any
//
// The engine lacks the first three, prints through fmt, and finds a panic only
// in the parent of the frame.

import (
	"fmt"
	"go/ast"
	"go/types"
)

func (f *function) builtin(e *ast.CallExpr, name string) string {
	switch name {
	case "append":
		return f.append(e)
	case "clear":
		return f.rt("Clear", f.expr(e.Args[0]))
	case "delete":
		key := f.coreOf(e.Args[0]).(*types.Map).Key()
		return "delete(" + f.expr(e.Args[0]) + ", " + f.exprTo(e.Args[1], key) + ")"
	case "max", "min":
		helper := f.extremum(name, f.typeOf(e))
		acc := f.expr(e.Args[0])
		for _, x := range e.Args[1:] {
			acc = helper + "(" + acc + ", " + f.expr(x) + ")"
		}
		return acc
	case "len", "cap":
		if p, ok := f.coreOf(e.Args[0]).(*types.Pointer); ok {
			// The length of the array, also of a nil pointer.
			n := p.Elem().Underlying().(*types.Array).Len()
			return fmt.Sprintf("func(%s) int { return %d }(%s)", f.typ(f.typeOf(e.Args[0])), n, f.expr(e.Args[0]))
		}
	case "make":
		if c, ok := f.coreOf(e.Args[0]).(*types.Chan); ok && c.Dir() != types.SendRecv {
			size := ""
			if len(e.Args) > 1 {
				size = ", " + f.expr(e.Args[1])
			}
			return "(" + f.typ(f.typeOf(e)) + ")(make(chan (" + f.typ(c.Elem()) + ")" + size + "))"
		}
	case "new":
		t := f.typeOf(e).Underlying().(*types.Pointer).Elem()
		if f.Info.Types[e.Args[0]].IsType() {
			return "new(" + f.typ(t) + ")"
		}
		return fmt.Sprintf("func(v %s) *%[1]s { w := v; return &w }(%s)", f.typ(t), f.exprTo(e.Args[0], t))
	case "panic":
		return "panic(" + f.exprTo(e.Args[0], anyType) + ")"
	case "print", "println":
		function := map[string]string{"print": "BuiltinPrint", "println": "BuiltinPrintln"}[name]
		arguments := make([]string, len(e.Args))
		for i, x := range e.Args {
			arguments[i] = f.expr(x)
			if types.IsInterface(f.typeOf(x)) {
				arguments[i] = f.rt("Words", arguments[i])
			}
		}
		return f.rt(function, arguments...)
	case "recover":
		if d := f.goFrame().recovers; d != "" {
			return d + ".Recover()"
		}
		return f.rt("Recover")
	}
	arguments := make([]string, len(e.Args))
	for i, x := range e.Args {
		arguments[i] = f.expr(x)
	}
	if _, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr); ok {
		return f.alias(types.Unsafe) + "." + name + "(" + list(arguments) + ")"
	}
	return name + "(" + list(arguments) + ")"
}

func (f *function) append(e *ast.CallExpr) string {
	s := f.expr(e.Args[0])
	if isNil(f.typeOf(e.Args[0])) {
		s = f.typ(f.typeOf(e)) + "(nil)"
	}
	if e.Ellipsis.IsValid() {
		return "append(" + s + ", " + f.expr(e.Args[1]) + "...)"
	}
	elem := f.typeOf(e).Underlying().(*types.Slice).Elem()
	arguments := []string{s}
	for _, x := range e.Args[1:] {
		arguments = append(arguments, f.exprTo(x, elem))
	}
	return "append(" + list(arguments) + ")"
}

// extremum names a function that is min or max of two values of type t.
func (f *function) extremum(name string, t types.Type) string {
	typ := f.typ(t)
	return f.helper(name, name+" "+typ, func(helper string) {
		w := &f.out
		w.open("func %s(a, b %s) %[2]s {", helper, typ)
		if b := t.Underlying().(*types.Basic); b.Info()&types.IsFloat != 0 {
			// math.Min and math.Max treat NaN and the sign of zero as the builtins do.
			function := map[string]string{"min": "Min", "max": "Max"}[name]
			math := f.alias(types.NewPackage("math", "math"))
			w.line("return %s(%s.%s(float64(a), float64(b)))", typ, math, function)
		} else {
			w.open("if b %s a {", map[string]string{"min": "<", "max": ">"}[name])
			w.line("return b")
			w.close("}")
			w.line("return a")
		}
		w.close("}")
	})
}
