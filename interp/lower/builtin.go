package lower

// Builtins:
//
//	min(a, b, c)     ->  minʹ1(minʹ1(a, b), c); of floats, rtʹ.Min
//	clear(x)         ->  rtʹ.Clear(x)
//	len(p), p *[3]T  ->  func(*[3]T) int { return 3 }(p)
//	make(<-chan T)   ->  (<-chan T)(make(chan T))
//	make([]T, n)     ->  make([]T, rtʹ.MakeLength(int(n), 8)), unless n is a small constant
//	make([]T, n, m)  ->  makeʹ1(int(n), int(m)), which panics as Go does if an argument is out of range
//	new(expr)        ->  func(v T) *T { return &v }(expr)
//	print, println   ->  rtʹ.BuiltinPrint, rtʹ.BuiltinPrintln: to stderr, as Go
//	recover()        ->  dʹ.Recover(), see defer.go
//	real(z), complex(x, y)  ->  float32(real(z)), complex64(complex(x, y))
//	append(g())      ->  func(t1 []A, t2 B) []A { return append(t1, t2) }(g())
//	append(s, a, s[0]), append(t, t)  ->  append(s, []T{a, s[0]}...)
//	append(s, v), delete(m, k), panic(v): v and k are converted to the element type, the key type, any
//
// yaegi does not have the first three, prints through fmt, and finds a panic only in the parent of
// the frame.

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"strconv"

	"github.com/quernlab/quern/interp/facts"
)

func (f *function) builtin(e *ast.CallExpr, name string) string {
	if len(e.Args) == 1 {
		if tuple, ok := f.typeOf(e.Args[0]).(*types.Tuple); ok {
			return f.spreadBuiltin(e, name, tuple)
		}
	}
	switch name {
	case "append":
		return f.append(e)
	case "clear":
		return f.rt("Clear", f.expr(e.Args[0]))
	case "delete":
		u := f.coreOf(e.Args[0]).(*types.Map)
		key := u.Key()
		if f.checksKey(e.Args[1], key) {
			return f.keyHelper("deleteKey", f.typeOf(e.Args[0]), u) + "(" + f.expr(e.Args[0]) + ", " + f.exprTo(e.Args[1], key) + ")"
		}
		return "delete(" + f.expr(e.Args[0]) + ", " + f.key(e.Args[1], key) + ")"
	case "max", "min":
		acc := f.expr(e.Args[0])
		if t := f.typeOf(e); t.Underlying().(*types.Basic).Info()&types.IsFloat != 0 {
			// An argument of a lowered function would lose a negative zero.
			function := map[string]string{"min": "Min", "max": "Max"}[name]
			for _, x := range e.Args[1:] {
				acc = f.typ(t) + "(" + f.rt(function, "float64("+acc+")", "float64("+f.expr(x)+")") + ")"
			}
			return acc
		}
		helper := f.extremum(name, f.typeOf(e))
		for _, x := range e.Args[1:] {
			acc = helper + "(" + acc + ", " + f.expr(x) + ")"
		}
		return acc
	case "len", "cap":
		if p, ok := f.coreOf(e.Args[0]).(*types.Pointer); ok {
			// The result is the length of the array, even for a nil pointer.
			n := p.Elem().Underlying().(*types.Array).Len()
			return fmt.Sprintf("func(%s) int { return %d }(%s)", f.typ(f.typeOf(e.Args[0])), n, f.expr(e.Args[0]))
		}
	case "make":
		if c, ok := f.coreOf(e.Args[0]).(*types.Chan); ok && c.Dir() != types.SendRecv {
			size := ""
			if len(e.Args) > 1 {
				size = ", " + f.makeLength(e.Args[1], sizes.Sizeof(c.Elem()))
			}
			return "(" + f.typ(f.typeOf(e)) + ")(make(chan (" + f.typ(c.Elem()) + ")" + size + "))"
		}
		if s, ok := f.coreOf(e.Args[0]).(*types.Slice); ok && len(e.Args) == 3 && f.Info.Types[e.Args[2]].Value == nil {
			return f.makeSlice(f.typeOf(e), s) + "(int(" + f.expr(e.Args[1]) + "), int(" + f.expr(e.Args[2]) + "))"
		}
		if len(e.Args) > 1 {
			var size int64
			switch t := f.coreOf(e.Args[0]).(type) {
			case *types.Slice:
				size = sizes.Sizeof(t.Elem())
			case *types.Chan:
				size = sizes.Sizeof(t.Elem())
			case *types.Map:
				size = sizes.Sizeof(t.Key()) + sizes.Sizeof(t.Elem()) + 1
			}
			arguments := []string{f.expr(e.Args[0]), f.makeLength(e.Args[1], size)}
			if len(e.Args) > 2 {
				arguments = []string{arguments[0], f.expr(e.Args[1]), f.makeLength(e.Args[2], size)}
			}
			return "make(" + list(arguments) + ")"
		}
	case "Sizeof", "Alignof", "Offsetof":
		if f.isUnsafe(e) {
			return f.measure(e, name)
		}
	case "new":
		t := f.typeOf(e).Underlying().(*types.Pointer).Elem()
		if f.Info.Types[e.Args[0]].IsType() {
			return "new(" + f.typ(t) + ")"
		}
		return fmt.Sprintf("func(v %s) *%[1]s { w := v; return &w }(%s)", f.typ(t), f.exprTo(e.Args[0], t))
	case "panic":
		return "panic(" + f.rt("PanicValue", f.exprTo(e.Args[0], anyType)) + ")"
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
		if f.frame.exit == byYield {
			return f.rt("Recoverer") + ".Recover()" // this function is never the deferred one
		}
		return f.frame.recovers + ".Recover()"
	}
	arguments := make([]string, len(e.Args))
	for i, x := range e.Args {
		arguments[i] = f.expr(x)
	}
	switch name {
	case "real", "imag", "complex":
		// In yaegi they are always complex128 and float64.
		return f.typ(f.typeOf(e)) + "(" + name + "(" + list(arguments) + "))"
	}
	if text, ok := f.unsafe(e, name, arguments); ok {
		return text
	}
	if _, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr); ok {
		return f.alias(types.Unsafe) + "." + name + "(" + list(arguments) + ")"
	}
	return name + "(" + list(arguments) + ")"
}

// makeSlice returns the name of a function that makes a slice of type t with a length and a
// capacity.
func (f *functionTypes) makeSlice(t types.Type, s *types.Slice) string {
	typ := f.typ(t)
	return f.helper("make", "make "+typ, func(helper string) {
		w := &f.out
		w.open("func %s(n, m int) %s {", helper, typ)
		w.line("return make(%s, n, %s)", typ, f.rt("MakeCapacity", "n", "m", strconv.FormatInt(sizes.Sizeof(s.Elem()), 10)))
		w.close("}")
	})
}

// makeLength lowers a size argument of make, for elements of size bytes. Lowered code checks it
// unless it is a small constant.
func (f *function) makeLength(x ast.Expr, size int64) string {
	const small = 1 << 20
	text := f.expr(x)
	if v := f.Info.Types[x].Value; v != nil {
		if n, ok := constant.Int64Val(constant.ToInt(v)); ok && (size == 0 || n < small/size) {
			return text
		}
	}
	return f.rt("MakeLength", "int("+text+")", strconv.FormatInt(size, 10))
}

// spreadBuiltin lowers append(g()) where g has several results:
//
//	append(g())  ->  func(t1 []A, t2 B) []A { return append(t1, t2) }(g())
func (f *function) spreadBuiltin(e *ast.CallExpr, name string, tuple *types.Tuple) string {
	inner := *e
	inner.Args = nil
	var parameters []string
	for i := range tuple.Len() {
		id := f.placeholder(e, f.temp(), tuple.At(i).Type())
		parameters = append(parameters, id.Name+" "+f.typ(tuple.At(i).Type()))
		inner.Args = append(inner.Args, id)
	}
	f.cell.AddFact(&inner, f.Info.Types[e])
	result := ""
	if tv := f.Info.Types[e]; !tv.IsVoid() && name != "print" && name != "println" && name != "delete" {
		result = f.typ(f.typeOf(e)) + " { return "
	} else {
		result = " { "
	}
	return "func(" + list(parameters) + ") " + result + f.builtin(&inner, name) + " }(" + f.expr(e.Args[0]) + ")"
}

// placeholder returns an identifier for a variable of lowered code, to be used in place of an
// expression of the user.
func (f *function) placeholder(at ast.Node, name string, t types.Type) *ast.Ident {
	v := types.NewVar(at.Pos(), nil, name, t)
	id := &ast.Ident{NamePos: at.Pos(), Name: name}
	f.locals[v] = name
	f.cell.AddUse(id, v)
	return id
}

func (f *function) append(e *ast.CallExpr) string {
	s := f.expr(e.Args[0])
	if isNil(f.typeOf(e.Args[0])) {
		s = f.conversionType(f.typeOf(e)) + "(nil)"
	}
	if e.Ellipsis.IsValid() {
		rest := f.expr(e.Args[1])
		if isNil(f.typeOf(e.Args[1])) {
			rest = f.conversionType(f.typeOf(e)) + "(nil)"
		}
		return "append(" + s + ", " + rest + "...)"
	}
	elem := f.typeOf(e).Underlying().(*types.Slice).Elem()
	arguments := []string{s}
	for _, x := range e.Args[1:] {
		argument := f.exprTo(x, elem)
		if isNil(f.typeOf(x)) && !types.IsInterface(elem) {
			argument = f.conversionType(elem) + "(nil)" // yaegi would append an interface
		}
		arguments = append(arguments, argument)
	}
	if size := sizes.Sizeof(elem); f.facts.Capacities[e] == facts.Buffered && size > 0 && size <= facts.StackBuffer/2 {
		s = f.buffer(f.typ(f.typeOf(e)), facts.StackBuffer/size) + "(" + s + ", " + strconv.Itoa(len(e.Args)-1) + ")"
		arguments[0] = s
	}
	if len(e.Args) > 2 && !all(e.Args[1:], f.isPlain) || len(e.Args) == 2 && types.Identical(f.typeOf(e.Args[0]), f.typeOf(e.Args[1])) {
		// yaegi reads an appended element after it has written the ones before, and treats an
		// element of the type of the slice as several elements.
		return "append(" + s + ", " + sliceLiteral(f.typ(f.typeOf(e).Underlying()), arguments[1:]) + "...)"
	}
	return "append(" + list(arguments) + ")"
}

// buffer returns the name of a function that returns an empty slice with such a buffer if n elements
// are going to be appended to it.
func (f *functionTypes) buffer(typ string, capacity int64) string {
	return f.helper("buffer", "buffer "+typ, func(helper string) {
		w := &f.out
		w.open("func %s(s %s, n int) %[2]s {", helper, typ)
		w.open("if len(s) == 0 && cap(s) < n && n <= %d {", capacity)
		w.line("return make(%s, 0, %d)", typ, capacity)
		w.close("}")
		w.line("return s")
		w.close("}")
	})
}

// isPlain reports whether e is a constant or a variable.
func (f *functionTypes) isPlain(e ast.Expr) bool {
	if f.Info.Types[e].Value != nil {
		return true
	}
	_, ok := ast.Unparen(e).(*ast.Ident)
	return ok
}

// extremum returns the name of a function that returns the min or max of two values of type t. t is
// not a float type.
func (f *functionTypes) extremum(name string, t types.Type) string {
	typ := f.typ(t)
	return f.helper(name, name+" "+typ, func(helper string) {
		w := &f.out
		w.open("func %s(a, b %s) %[2]s {", helper, typ)
		w.open("if b %s a {", map[string]string{"min": "<", "max": ">"}[name])
		w.line("return b")
		w.close("}")
		w.line("return a")
		w.close("}")
	})
}
