package vm

import (
	"go/ast"
	"go/types"
	"unsafe"
)

// A defer statement puts a closure without parameters on a list of the thread:
//
//	defer func(a A) {...}(x)   the literal; a is a variable that it captures
//	defer f(x, y)              one that calls f with the captured operands of the call
//
// and each return from the function makes the calls that are its own before it loads
// the results, which are variables until then.

// defers reports whether a function with this body has a defer statement.
func defers(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.DeferStmt:
			found = true
		}
		return !found
	})
	return found
}

// deferStatement compiles a defer statement.
func (c *compiler) deferStatement(s *ast.DeferStmt) {
	if c.statements || c.iteration != nil {
		c.fail(s, "a defer statement of a cell")
	}
	m := c.mark()
	defer c.release(m)
	e := s.Call
	_, ok := c.typeOf(e.Fun).Underlying().(*types.Signature)
	switch tv := c.source.Info.Types[e.Fun]; {
	case tv.IsBuiltin():
		c.deferBuiltin(e, calleeName(e.Fun))
		return
	case tv.IsType() || !ok:
		c.fail(s, "a defer statement of this")
	}
	if lit, ok := ast.Unparen(e.Fun).(*ast.FuncLit); ok {
		c.deferLiteral(e, lit, c.declared(lit))
		return
	}
	outer := c.deferred
	c.deferred = &deferral{call: e}
	c.compileCall(e)
	if !c.deferred.done {
		c.fail(s, "a deferred call of this")
	}
	c.deferred = outer
}

// deferral is the call of a defer statement that is being compiled.
type deferral struct {
	call *ast.CallExpr
	done bool
}

// postponed has the call e made later, if it is that of a defer statement: its
// arguments are in b, and other operands in more. call compiles the call itself.
func (c *compiler) postponed(e ast.Node, b *block, more []operand, call func(a *compiler, b *block, more []operand)) bool {
	if c.deferred == nil || e != c.deferred.call {
		return false
	}
	c.deferred.done = true
	var cells []uint16
	for _, x := range more {
		cells = append(cells, c.kept(x))
	}
	for _, x := range b.parameters {
		cells = append(cells, c.kept(x))
	}
	fn := c.unit.function("")
	a := &compiler{machine: c.machine, unit: c.unit, source: c.source, substitute: c.substitute, fn: fn, facts: c.facts, variables: map[types.Object]*variable{}}
	a.at(e)
	for range cells {
		fn.captures = append(fn.captures, a.referenceRegister())
	}
	loaded := make([]operand, len(more))
	for i, x := range more {
		if loaded[i] = (operand{shape: x.shape, at: fn.captures[i]}); !isAddress(x) {
			loaded[i] = a.load(x.shape, fn.captures[i], 0, nil)
		}
	}
	later := a.beginBlock()
	for i, x := range b.parameters {
		to := a.temporary(x.shape)
		if from := fn.captures[len(more)+i]; isAddress(x) {
			a.do(opMovP, to.at, from, 0)
		} else {
			a.load(x.shape, from, 0, &to)
		}
		later.parameters = append(later.parameters, to)
	}
	call(a, later, loaded)
	a.do(opRet, 0, 0, 0)
	c.push(fn, cells, true)
	return true
}

// isAddress reports whether the register of x holds nothing but an address: of a value
// in memory, or a pointer. A closure captures that as it is.
func isAddress(x operand) bool { return x.width == "P" }

// kept puts a value into a variable of its own, and gives the register with its
// address; that of a pointer has the pointer itself.
func (c *compiler) kept(x operand) uint16 {
	switch {
	case x.file == memory:
		return c.own(x, nil).at
	case isAddress(x):
		return x.at
	}
	return c.boxed(x)
}

// boxed puts a value into a new variable, and gives the register with its address.
func (c *compiler) boxed(x operand) uint16 {
	at := c.referenceRegister()
	c.emit(opNew, at, 0, 0, c.memoryType(x.typ), 0)
	c.store(at, 0, x)
	return at
}

// push defers a closure of fn with the variables whose addresses are in from.
func (c *compiler) push(fn *Function, from []uint16, forwards bool) {
	c.native("defer "+fn.name, &native{run: func(t *thread, nb, sb unsafe.Pointer) { t.pushDeferred(fn, forwards, from, nb, sb) }})
}

// deferLiteral defers a call of a function literal. Its parameters are variables
// that it captures.
func (c *compiler) deferLiteral(e *ast.CallExpr, lit *ast.FuncLit, sig *types.Signature) {
	b := c.beginBlock()
	c.arguments(b, e, sig)
	var cells []uint16
	boxed := make([]bool, len(b.parameters))
	for i, x := range b.parameters {
		at := c.kept(x)
		boxed[i] = !isAddress(x)
		if x.file != memory && isAddress(x) && c.facts.shared[sig.Params().At(i)] {
			boxed[i], at = true, c.boxed(x)
		}
		cells = append(cells, at)
	}
	fn, from := c.function(lit, types.NewSignatureType(nil, nil, nil, nil, sig.Results(), false), func(inner *compiler) {
		for i, x := range b.parameters {
			at := inner.referenceRegister()
			inner.fn.captures = append(inner.fn.captures, at)
			inner.variables[sig.Params().At(i)] = &variable{shape: x.shape, at: at, boxed: boxed[i]}
		}
	})
	c.push(fn, append(cells, from...), false)
}

// deferBuiltin defers a call of a builtin function.
func (c *compiler) deferBuiltin(e *ast.CallExpr, name string) {
	b := c.beginBlock()
	c.deferred = &deferral{call: e}
	defer func() { c.deferred = nil }()
	switch name {
	case "close":
		c.postponed(e, b, []operand{c.expr(e.Args[0], nil)}, func(a *compiler, _ *block, more []operand) { a.closeChannel(more[0]) })
	case "panic":
		x := c.exprTo(e.Args[0], types.NewInterfaceType(nil, nil), nil)
		c.postponed(e, b, []operand{x}, func(a *compiler, _ *block, more []operand) { a.do(opPanic, more[0].at, 0, 0) })
	case "delete":
		t := c.typeOf(e.Args[0]).Underlying().(*types.Map)
		m := c.fresh(c.expr(e.Args[0], nil))
		access := c.mapAccess(e, t)
		key := c.exprTo(e.Args[1], t.Key(), nil)
		c.postponed(e, b, []operand{m, key}, func(a *compiler, _ *block, more []operand) { access.delete(a, more[0].at, more[1]) })
	default:
		c.fail(e, "a deferred call of the builtin %s", name)
	}
}

// setResults assigns to the results of a function that has deferred calls.
func (c *compiler) setResults(values []operand) {
	for i, v := range c.results {
		if v.boxed || v.file == memory {
			c.store(v.at, 0, values[i])
		} else {
			c.move(operand{shape: v.shape, at: v.at}, values[i])
		}
	}
}

// runDeferred makes the deferred calls of this activation.
func (c *compiler) runDeferred() {
	begin, end := newLabel(), newLabel()
	c.place(begin)
	b := c.beginBlock()
	c.jump(end, opRunDeferred, b.n, b.s, 0)
	c.jump(begin, opJmp, 0, 0, 0)
	c.place(end)
}

// recoverCall compiles recover().
func (c *compiler) recoverCall(e *ast.CallExpr, want *operand) operand {
	registry := c.machine.config.Registry
	if registry == nil || c.statements || c.iteration != nil {
		c.fail(e, "the builtin recover")
	}
	dst := c.destination(c.shapeOf(e), want)
	at := dst.at
	c.native("recover", &native{run: func(t *thread, _, sb unsafe.Pointer) { *iface(sb, at) = t.recover(registry) }})
	return dst
}
