package compile

import (
	"go/ast"
	"go/types"
	"unsafe"

	"github.com/quernlab/quern/interp/vm"
)

// A defer statement pushes a closure without parameters on a list of the thread:
//
//	defer func(a A) {...}(x)   the literal itself; a becomes a captured variable
//	defer f(x, y)              a wrapper that calls f with captured operands
//
// Each return pops and calls the closures of its function before it loads the results, which are variables
// until then.

// deferStatement compiles a defer statement.
func (c *compiler) deferStatement(s *ast.DeferStmt) {
	c.later(&deferral{call: s.Call})
}

// goStatement compiles a go statement.
func (c *compiler) goStatement(s *ast.GoStmt) {
	if c.unit.config.Guard == nil {
		c.fail(s, "a go statement")
	}
	c.later(&deferral{call: s.Call, starts: true})
}

// later compiles the evaluation of the operands of a call, and defers or starts the call.
func (c *compiler) later(d *deferral) {
	m, outer := c.mark(), c.deferred
	c.deferred = d
	e := d.call
	lit, literal := ast.Unparen(e.Fun).(*ast.FuncLit)
	switch {
	case c.source.Info.Types[e.Fun].IsBuiltin():
		fn, from := c.builtinClosure(e, calleeName(e.Fun))
		c.emitDefer(fn, from, true)
	case literal:
		c.deferLiteral(e, lit, c.literalSignature(lit))
	default:
		c.compileCall(e)
	}
	if !d.compiled {
		c.fail(e, "this kind of deferred call")
	}
	c.deferred = outer
	c.release(m)
}

// deferral is the call of a defer or go statement that is being compiled.
type deferral struct {
	call     *ast.CallExpr
	starts   bool // it is a go statement
	compiled bool
}

// isDeferred reports whether e is the call of the current defer or go statement.
func (c *compiler) isDeferred(e ast.Node) bool { return c.deferred != nil && e == c.deferred.call }

// deferCall defers the call e, or starts it, if it is the call of the current defer or go statement, and reports whether it is.
// The arguments are in b, other operands in more. call compiles the call itself, in the wrapper.
func (c *compiler) deferCall(e ast.Node, b *callFrame, more []operand, call func(a *compiler, b *callFrame, more []operand)) bool {
	return c.deferThrough(e, b, more, call, true)
}

// deferThrough is deferCall, where wrapper says that the function that the wrapper calls may recover.
func (c *compiler) deferThrough(e ast.Node, b *callFrame, more []operand, call func(a *compiler, b *callFrame, more []operand), wrapper bool) bool {
	if !c.isDeferred(e) {
		return false
	}
	var captured []uint16
	for _, x := range more {
		captured = append(captured, c.captureValue(x))
	}
	for _, x := range b.parameters {
		captured = append(captured, c.captureValue(x))
	}
	fn := c.unit.newFunction("")
	a := &compiler{code: c.of(fn), source: c.source, substitute: c.substitute, facts: c.facts, variables: map[types.Object]*variable{}}
	a.setPosition(e)
	for range captured {
		fn.Captures = append(fn.Captures, a.referenceRegister())
	}
	loaded := make([]operand, len(more))
	for i, x := range more {
		if loaded[i] = (operand{Shape: x.Shape, reg: fn.Captures[i]}); !isAddress(x) {
			loaded[i] = a.load(x.Shape, fn.Captures[i], 0, nil)
		}
	}
	later := a.beginFrame()
	for i, x := range b.parameters {
		to := a.temporary(x.Shape)
		if from := fn.Captures[len(more)+i]; isAddress(x) {
			a.do(vm.OpMovP, to.reg, from, 0)
		} else {
			a.load(x.Shape, from, 0, &to)
		}
		later.parameters = append(later.parameters, to)
	}
	call(a, later, loaded)
	a.do(vm.OpRet, 0, 0, 0)
	c.emitDefer(fn, captured, wrapper)
	return true
}

// isAddress reports whether the register of x holds a single pointer: the address of a value in memory, or
// a pointer value. A closure can capture it without a box.
func isAddress(x operand) bool { return x.Width == "P" }

// captureValue makes x available to a closure. It returns a register with the address of a copy of x, or
// with x itself if x is a pointer.
func (c *code) captureValue(x operand) uint16 {
	switch {
	case x.File == vm.Memory:
		return c.own(x, nil).reg
	case isAddress(x):
		return x.reg
	}
	return c.boxValue(x)
}

// boxValue stores a value in a new variable and returns a register with its address.
func (c *code) boxValue(x operand) uint16 {
	at := c.referenceRegister()
	c.emit(vm.OpNew, at, 0, 0, c.memoryType(x.Type), 0)
	c.store(at, 0, x)
	return at
}

// emitDefer defers the call of a closure of fn, or starts it. The registers in from hold the addresses of the captured variables.
func (c *compiler) emitDefer(fn *vm.Function, from []uint16, wrapper bool) {
	c.deferred.compiled = true
	switch {
	case c.deferred.starts:
		c.emitStart(fn, from)
	case c.iteration != nil:
		c.deferOutside(fn, from, wrapper)
	default:
		c.native("defer "+fn.Name, &vm.Native{Run: func(t *vm.Thread, nb, sb unsafe.Pointer) { t.PushDeferred(fn, wrapper, from, nb, sb) }})
	}
}

// emitStart calls a closure of fn in a new goroutine.
func (c *compiler) emitStart(fn *vm.Function, from []uint16) {
	machine, guard, cell := c.vm, c.unit.config.Guard, c.source.Cell
	c.native("go "+fn.Name, &vm.Native{Run: func(_ *vm.Thread, _, sb unsafe.Pointer) {
		captured := make([]unsafe.Pointer, len(from))
		for i, at := range from {
			captured[i] = *vm.PointerAt(sb, at)
		}
		go guard(cell, func() { machine.RunClosure(fn, captured) })()
	}})
}

// deferLiteral defers the call of a function literal. Its parameters become captured variables.
func (c *compiler) deferLiteral(e *ast.CallExpr, lit *ast.FuncLit, sig *types.Signature) {
	b := c.beginFrame()
	c.arguments(b, e, sig)
	var captured []uint16
	boxed := make([]bool, len(b.parameters))
	for i, x := range b.parameters {
		at := c.captureValue(x)
		boxed[i] = !isAddress(x)
		if x.File != vm.Memory && isAddress(x) && c.facts.Escapes(sig.Params().At(i)) && !c.copied(sig.Params().At(i), x.Shape) {
			boxed[i], at = true, c.boxValue(x)
		}
		captured = append(captured, at)
	}
	fn, from := c.function(lit, types.NewSignatureType(nil, nil, nil, nil, sig.Results(), false), func(inner *compiler) {
		for i, x := range b.parameters {
			at := inner.referenceRegister()
			inner.fn.Captures = append(inner.fn.Captures, at)
			inner.variables[sig.Params().At(i)] = &variable{Shape: x.Shape, reg: at, boxed: boxed[i]}
		}
	})
	c.emitDefer(fn, append(captured, from...), false)
}

// builtinClosure returns the function of a closure that calls a builtin function, and the registers with what it captures: the
// arguments, which are evaluated now.
func (c *compiler) builtinClosure(e *ast.CallExpr, name string) (fn *vm.Function, from []uint16) {
	e, done := c.spreadBuiltin(e)
	defer done()
	fn = c.unit.newFunction("")
	a := &compiler{code: c.of(fn), source: c.source, substitute: c.substitute, facts: c.facts, variables: map[types.Object]*variable{}}
	a.setPosition(e)
	call := &ast.CallExpr{Fun: e.Fun, Lparen: e.Lparen, Ellipsis: e.Ellipsis, Rparen: e.Rparen}
	for _, x := range e.Args {
		if tv := c.source.Info.Types[x]; tv.Value != nil || tv.IsType() || c.isNil(x) {
			call.Args = append(call.Args, x)
			continue
		}
		v := types.NewVar(x.Pos(), nil, "argument", types.Default(c.typeOf(x)))
		value := c.exprTo(x, v.Type(), nil)
		from = append(from, c.captureValue(value))
		at := a.referenceRegister()
		fn.Captures = append(fn.Captures, at)
		a.variables[v] = &variable{Shape: value.Shape, reg: at, boxed: !isAddress(value)}
		id := &ast.Ident{NamePos: x.Pos(), Name: v.Name()}
		c.source.Info.Uses[id] = v
		defer delete(c.source.Info.Uses, id)
		call.Args = append(call.Args, id)
	}
	if name == "recover" {
		a.deferredRecover(e)
	} else {
		a.builtin(call, name, nil)
	}
	a.do(vm.OpRet, 0, 0, 0)
	a.emit(vm.OpInvalid, 0, 0, 0, 0, 0)
	return fn, from
}

// deferredRecover compiles the call of recover in defer recover(). It takes effect as if the function with the defer statement called it
// before it returns, but not if that function panics.
func (c *compiler) deferredRecover(e ast.Node) {
	registry := c.vm.Registry()
	if registry == nil {
		c.fail(e, "the builtin recover")
	}
	c.native("recover", &vm.Native{Run: func(t *vm.Thread, _, _ unsafe.Pointer) { t.RecoverOutside(registry) }})
}

// setResults assigns to the result variables of a function that has deferred calls.
func (c *compiler) setResults(values []operand) {
	for i, v := range c.results {
		if v.boxed || v.File == vm.Memory {
			c.store(v.reg, 0, values[i])
		} else {
			c.move(operand{Shape: v.Shape, reg: v.reg}, values[i])
		}
	}
}

// runDeferred runs the deferred calls of this activation.
func (c *code) runDeferred() {
	begin, end := newLabel(), newLabel()
	c.bind(begin)
	b := c.beginFrame()
	c.jump(end, vm.OpRunDeferred, b.scalarOffset, b.slotOffset, 0)
	c.jump(begin, vm.OpJmp, 0, 0, 0)
	c.bind(end)
}

// recoverCall compiles recover().
func (c *compiler) recoverCall(e *ast.CallExpr, want *operand) operand {
	registry := c.vm.Registry()
	if registry == nil {
		c.fail(e, "the builtin recover")
	}
	dst := c.destination(c.shapeOf(e), want)
	at := dst.reg
	if c.iteration != nil { // this function is never the deferred one
		c.do(vm.OpNil, at, 0, 0)
		return dst
	}
	c.native("recover", &vm.Native{Run: func(t *vm.Thread, _, sb unsafe.Pointer) { *vm.AnyAt(sb, at) = t.Recover(registry) }})
	return dst
}
