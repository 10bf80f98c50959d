package vm

import (
	"go/ast"
	"go/types"
)

// methodValue compiles a method value x.m: a closure that captures the receiver.
func (c *compiler) methodValue(e *ast.SelectorExpr, sel *types.Selection, want *operand) operand {
	m, path := c.method(e, sel)
	if types.IsInterface(c.typeOf(e.X)) || types.IsInterface(m.Signature().Recv().Type()) {
		c.fail(e, "a method of an interface as a value")
	}
	f := c.unit.callee(m.Origin())
	if f == nil {
		f = c.methodInstance(m)
	}
	sig, ok := c.typeOf(e).Underlying().(*types.Signature)
	if f == nil || !ok || sig.Variadic() {
		c.fail(e, "the method %s as a value", m.Name())
	}
	x := c.receiver(e, path, m.Signature().Recv().Type(), nil)
	captured := c.captureValue(operand{shape: x.shape, reg: c.addressIfMemory(x), owned: x.owned && x.offset == 0})
	fn := c.methodClosure(e, f, sig, x.shape)
	dst := c.destination(c.shapeOf(e), want)
	c.makeClosure(fn, []uint16{captured}, dst)
	return dst
}

// methodClosure returns the code of a method value of f whose receiver has shape s.
func (c *compiler) methodClosure(e ast.Expr, f *Function, sig *types.Signature, s shape) *Function {
	fn := c.unit.newFunction("")
	fn.wrapper, fn.method = true, f
	a := &compiler{code: c.of(fn), source: c.source, substitute: c.substitute, facts: c.facts, variables: map[types.Object]*variable{}}
	a.setPosition(e)
	for v := range sig.Params().Variables() {
		fn.parameters = append(fn.parameters, c.shape(e, c.subst(v.Type())))
	}
	for v := range sig.Results().Variables() {
		fn.results = append(fn.results, c.shape(e, c.subst(v.Type())))
	}
	from := frameRegisters(fn.parameters)
	for _, p := range fn.parameters {
		a.register(p)
	}
	m := a.mark()
	a.release(mark{})
	for _, r := range fn.results {
		a.register(r) // so that the call does not overwrite them
	}
	a.release(mark{max(m.scalars, a.scalarsInUse), max(m.slots, a.slotsInUse)})
	captured := a.referenceRegister()
	fn.captures = []uint16{captured}
	b := a.beginFrame()
	receiver := a.temporary(s)
	switch x := (operand{shape: s, reg: captured}); {
	case s.file == memory:
		a.emit(opCloneM, receiver.reg, captured, 0, a.memoryType(s.typ), 0)
	case isAddress(x):
		a.do(opMovP, receiver.reg, captured, 0)
	default:
		a.load(s, captured, 0, &receiver)
	}
	for i, p := range fn.parameters {
		a.move(a.temporary(p), operand{shape: p, reg: from[i]})
	}
	for i, r := range a.callDirect(b, f, sig, nil) {
		a.move(operand{shape: r.shape, reg: frameRegisters(fn.results)[i]}, r)
	}
	a.do(opRet, 0, 0, 0)
	a.emit(opInvalid, 0, 0, 0, 0, 0)
	return fn
}
