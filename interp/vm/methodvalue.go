package vm

import (
	"go/ast"
	"go/types"
)

// methodValue compiles a method value x.m: a closure that captures the receiver.
func (c *compiler) methodValue(e *ast.SelectorExpr, sel *types.Selection, want *operand) operand {
	m, path := c.method(e, sel)
	if types.IsInterface(c.typeOf(e.X)) || types.IsInterface(m.Signature().Recv().Type()) {
		return c.interfaceMethodValue(e, m, path, want)
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
	fn := c.methodClosure(e, sig, x.shape, func(a *compiler, b *callFrame) []operand { return a.callDirect(b, f, sig, nil) })
	fn.method = f
	dst := c.destination(c.shapeOf(e), want)
	c.makeClosure(fn, []uint16{captured}, dst)
	return dst
}

// methodClosure returns the code of a method value whose receiver has shape s. call calls the method with the arguments in b, first the
// receiver.
func (c *compiler) methodClosure(e ast.Expr, sig *types.Signature, s shape, call func(a *compiler, b *callFrame) []operand) *Function {
	fn := c.unit.newFunction("")
	fn.wrapper = true
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
	b.parameters = append(b.parameters, receiver)
	switch x := (operand{shape: s, reg: captured}); {
	case s.file == memory:
		a.emit(opCloneM, receiver.reg, captured, 0, a.memoryType(s.typ), 0)
	case isAddress(x):
		a.do(opMovP, receiver.reg, captured, 0)
	default:
		a.load(s, captured, 0, &receiver)
	}
	for i, p := range fn.parameters {
		to := a.temporary(p)
		a.move(to, operand{shape: p, reg: from[i]})
		b.parameters = append(b.parameters, to)
	}
	for i, r := range call(a, b) {
		a.move(operand{shape: r.shape, reg: frameRegisters(fn.results)[i]}, r)
	}
	a.do(opRet, 0, 0, 0)
	a.emit(opInvalid, 0, 0, 0, 0, 0)
	return fn
}
