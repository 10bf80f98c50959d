package lower

// Every implicit conversion of Go, and the explicit ones to an interface, goes through convert. A
// forgotten conversion causes a wrong dynamic type and not an error, so no other code may convert.
//
//	P -> any, interpreted interface        v  ->  rtʹ.Box(17, v)
//	P -> error                             v  ->  rtʹ.BoxError(17, v)
//	P -> io.Reader                         v  ->  convertʹ1(rtʹ.Box(17, v))
//	interpreted interface -> io.Reader     i  ->  convertʹ1(i)
//	func(*M) State -> State                g  ->  a function that returns an interface{}
//	everything else                        x  ->  x

import (
	"fmt"
	"go/ast"
	"go/types"
)

// convert converts the lowered expression x between two types. Go must allow the assignment. Neither
// type contains type parameters.
func (e *emitter) convert(x string, from, to types.Type) string {
	if from == nil || to == nil || isNil(from) || !types.IsInterface(to) {
		return x
	}
	if types.IsInterface(from) {
		return e.convertInterface(x, from, to)
	}
	from = types.Default(from)
	if !e.boxed(from) {
		return x
	}
	id := e.descriptor(from)
	e.unnamedMethods(from)
	if isError(to) {
		return e.rt("BoxError", id, x)
	}
	box := e.rt("Box", id, x)
	if dynamic(to) || isEmptyInterface(to) {
		return box
	}
	return e.assignHelper(to) + "(" + box + ")"
}

func (e *emitter) convertInterface(x string, from, to types.Type) string {
	if dynamic(from) && !dynamic(to) && !isEmptyInterface(to) {
		return e.assignHelper(to) + "(" + x + ")"
	}
	return x
}

func isEmptyInterface(t types.Type) bool { return t.Underlying().(*types.Interface).NumMethods() == 0 }

// assignHelper returns the name of a function that converts an interface{} to a compiled interface.
// The type checker has accepted the conversion.
func (e *emitter) assignHelper(t types.Type) string {
	id := e.Registry.ID(t)
	return e.helper("convert", fmt.Sprintf("convert #%d", id), func(name string) {
		typ := e.typ(t)
		e.out.open("func %s(x interface{}) %s {", name, typ)
		e.out.line("v := %s", e.rt("Assign", "x", e.descriptor(t)))
		e.out.open("if v == nil {")
		e.out.line("return nil")
		e.out.close("}")
		e.out.line("return v.(%s)", typ)
		e.out.close("}")
	})
}

// helper returns the name of the function of lowered code for key. When it is used for the first time,
// helper queues its declaration.
func (e *emitter) helper(base, key string, declare func(name string)) string {
	if name, ok := e.helpers[key]; ok {
		return name
	}
	name := e.fresh(base)
	set(e.Program, e.helpers, key, name)
	e.queue = append(e.queue, func() { declare(name) })
	return name
}

// exprTo lowers e and converts it to t.
func (f *function) exprTo(e ast.Expr, t types.Type) string {
	x := f.expr(e)
	if t == nil {
		return x
	}
	return f.convert(x, f.typeOf(e), f.subst(t))
}
