package vm

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unsafe"

	"github.com/quernlab/quern/interp/facts"
	"github.com/quernlab/quern/interp/rt"
)

// A range over a function calls the function with a closure of the body. The closure stores in a variable
// how the body was left:
//
//	for x := range seq {          state := ready
//		if x == 1 { continue }    seq(func(x int) bool {
//		if x == 2 { break }           BeginBody: panic unless state is ready; state = running
//		if x == 3 { return 7 }        if x == 1 { state = ready; return true }
//		if x == 4 { break outer } ->  if x == 2 { state = left; return false }
//	}                                 if x == 3 { result = 7; state = returned; return false }
//	                                  if x == 4 { state = firstExit; return false }
//	                                  state = ready; return true
//	                              })
//	                              how, state := state, ended; panic if how is running
//	                              if how == returned { return result }
//	                              if how == firstExit { break outer }
//
// The body captures the variables of the function that it uses, and the result variables if it contains a
// return statement; see package facts.

// States of a loop. Branches out of the body have the states from firstExit on.
const (
	stateEnded    = rt.RangeEnded
	stateRunning  = rt.RangeRunning // the body is running, or has panicked
	stateReady    = 0
	stateLeft     = 1 // a break statement has left the loop
	stateReturned = 2 // a return statement has left the loop
	firstExit     = 3
)

// iteration is a range over a function whose body is being compiled.
type iteration struct {
	state   uint16          // register in the body that holds the address of the state
	outside uint16          // register in the body that holds the address of a deferrer, if the body has defer statements
	labels  map[string]bool // labels declared in the body
	returns bool            // the body, or a nested one, has a return statement
	exits   []exit
}

// exit is a branch out of the body to an enclosing statement or to a label.
type exit struct {
	token token.Token
	label string
}

// iterator returns the type of the function that s ranges over; nil if it ranges over something else.
func (c *compiler) iterator(s *ast.RangeStmt) *types.Signature {
	sig, _ := c.typeOf(s.X).Underlying().(*types.Signature)
	return sig
}

// rangeFunction compiles a range over a function.
func (c *compiler) rangeFunction(s *ast.RangeStmt, name string, sig *types.Signature) {
	f := c.expr(s.X, nil)
	yield := c.subst(sig.Params().At(0).Type())
	state := c.referenceRegister()
	c.emit(opNew, state, 0, 0, c.memoryType(intShape.typ), 0)
	it := &iteration{labels: labelsIn(s.Body)}
	outside := noRegister
	if facts.Defers(s.Body.List) {
		outside = c.deferrer()
	}
	fn, from := c.iterationBody(s, name, yield.Underlying().(*types.Signature), it, state, outside)
	b := c.beginFrame()
	closure := c.temporary(c.shape(s, yield))
	b.parameters = append(b.parameters, closure)
	c.makeClosure(fn, from, closure)
	c.callPointerWith(b, nil, f, sig)
	c.setPosition(s)
	how := c.load(intShape, state, 0, nil)
	ended := newLabel()
	c.jump(ended, opIfNeK, how.reg, 0, stateRunning)
	c.native("panic", &native{run: func(*thread, unsafe.Pointer, unsafe.Pointer) { panic(rt.RangeSwallowed()) }})
	c.bind(ended)
	c.emit(opSetState, state, 0, 0, stateEnded, 0)
	if it.returns {
		otherwise := newLabel()
		c.jump(otherwise, opIfNeK, how.reg, 0, stateReturned)
		c.returnResults()
		c.bind(otherwise)
	}
	for i, e := range it.exits {
		otherwise := newLabel()
		c.jump(otherwise, opIfNeK, how.reg, 0, int32(firstExit+i))
		c.branch(&ast.BranchStmt{TokPos: s.Pos(), Tok: e.token, Label: ast.NewIdent(e.label)})
		c.bind(otherwise)
	}
}

// labelsIn returns the labels that a body declares.
func labelsIn(body *ast.BlockStmt) map[string]bool {
	labels := map[string]bool{}
	inspectFunction(body, func(n ast.Node) {
		if s, ok := n.(*ast.LabeledStmt); ok {
			labels[s.Label.Name] = true
		}
	})
	return labels
}

// inspectFunction visits the nodes of a body except those in function literals.
func inspectFunction(body ast.Node, visit func(ast.Node)) {
	ast.Inspect(body, func(n ast.Node) bool {
		if _, literal := n.(*ast.FuncLit); literal || n == nil {
			return false
		}
		visit(n)
		return true
	})
}

// iterationBody compiles the body of a range over a function as a function of type yield. It returns the
// registers that hold the addresses of the captured variables.
func (c *compiler) iterationBody(s *ast.RangeStmt, name string, yield *types.Signature, it *iteration, state, outside uint16) (fn *Function, from []uint16) {
	fn = c.unit.newFunction(strings.TrimSuffix(c.fn.name, ".func") + ".func")
	inner := &compiler{
		code: c.of(fn), source: c.source, substitute: c.substitute, signature: c.signature, iteration: it,
		variables: map[types.Object]*variable{}, facts: c.facts, hoisted: map[types.Object]uint16{}, labels: map[string]*label{}, loops: 1,
	}
	inner.setPosition(s)
	parameters := inner.iterationParameters(s, yield)
	capture := func(x operand) uint16 {
		at := inner.referenceRegister()
		fn.captures, from = append(fn.captures, at), append(from, x.reg)
		return at
	}
	it.state = capture(operand{reg: state})
	if outside != noRegister {
		it.outside = capture(operand{reg: outside})
	}
	nodes := []ast.Node{s.Body}
	for _, e := range []ast.Expr{s.Key, s.Value} {
		if e != nil {
			nodes = append(nodes, e)
		}
	}
	for _, o := range c.capturedVariables(nodes...) {
		v := c.variables[o]
		if !v.boxed && v.file != memory {
			c.fail(s, "the variable %s in a register, captured by a range over a function", o.Name())
		}
		inner.variables[o] = &variable{shape: v.shape, reg: capture(operand{reg: v.reg}), boxed: v.boxed}
	}
	if returnsIn(s.Body) {
		for _, v := range c.results {
			inner.results = append(inner.results, &variable{shape: v.shape, reg: capture(operand{reg: v.reg}), boxed: v.boxed})
		}
	}
	inner.ownParameters(frameRegisters(fn.parameters), all)
	inner.do(opBeginBody, it.state, 0, 0)
	inner.iterationVariables(s, yield, parameters)
	t := &target{label: name, exit: newLabel(), next: newLabel()}
	inner.targets = append(inner.targets, t)
	inner.hooksAfter(s)
	inner.block(s.Body.List)
	inner.setPosition(s)
	inner.bind(t.next)
	inner.leaveBody(stateReady)
	inner.bind(t.exit)
	inner.leaveBody(stateLeft)
	inner.emit(opInvalid, 0, 0, 0, 0, 0)
	return fn, from
}

// returnsIn reports whether a body contains a return statement.
func returnsIn(body *ast.BlockStmt) (found bool) {
	inspectFunction(body, func(n ast.Node) {
		_, is := n.(*ast.ReturnStmt)
		found = found || is
	})
	return found
}

// iterationParameters reserves the registers of the parameters and of the result of a body.
func (c *compiler) iterationParameters(s *ast.RangeStmt, yield *types.Signature) (parameters []operand) {
	for v := range yield.Params().Variables() {
		p := c.temporary(c.shape(s, c.subst(v.Type())))
		parameters = append(parameters, p)
		c.fn.parameters = append(c.fn.parameters, p.shape)
	}
	c.fn.results = []shape{boolShape}
	if c.scalarsInUse == 0 {
		c.scalarRegister()
	}
	return parameters
}

// iterationVariables assigns the parameters of the body to the iteration variables. Unlike in other range statements, the second
// variable of for i, a[i] = range f depends on the new value of the first, as in compiled Go.
func (c *compiler) iterationVariables(s *ast.RangeStmt, yield *types.Signature, parameters []operand) {
	for i, e := range []ast.Expr{s.Key, s.Value} {
		if !isUsed(e) {
			continue
		}
		p := parameters[i]
		if v := c.declaredVariable(e); v != nil && s.Tok == token.DEFINE {
			c.parameter(v, p.shape, p.reg, true)
			continue
		}
		m := c.mark()
		c.set(c.locate(e), c.converted(s, p, c.subst(yield.Params().At(i).Type()), c.typeOf(e), nil))
		c.release(m)
	}
}

// leaveBody ends an iteration: it stores the state and returns whether to continue.
func (c *compiler) leaveBody(state int32) {
	c.emit(opSetState, c.iteration.state, 0, 0, state, 0)
	c.emit(opConst, 0, 0, 0, int32(boolToInt(state == stateReady)), 0)
	c.do(opRet, 0, 0, 0)
}

// exitBody compiles a branch to a statement outside the body.
func (c *compiler) exitBody(s *ast.BranchStmt) {
	it, e := c.iteration, exit{s.Tok, s.Label.Name}
	i := slices.Index(it.exits, e)
	if i < 0 {
		i = len(it.exits)
		it.exits = append(it.exits, e)
	}
	c.leaveBody(int32(firstExit + i))
}

// deferrer is an active call of a function that ranges over a function. The calls that the body of the range statement defers
// run when that call returns, whatever calls the body.
type deferrer struct {
	thread *thread
	depth  int
	nb, sb uint32 // as in deferredCall
}

// deferrer returns a register with the address of the deferrer to which defer statements belong.
func (c *compiler) deferrer() uint16 {
	if c.iteration != nil {
		return c.iteration.outside
	}
	at := c.referenceRegister()
	c.native("deferrer", &native{run: func(t *thread, nb, sb unsafe.Pointer) {
		a := &deferrer{thread: t, depth: t.depth}
		a.nb, a.sb = t.offsets(nb, sb)
		*pointerAt(sb, at) = unsafe.Pointer(a)
	}})
	return at
}

// deferOutside defers a closure of fn in the function around the range statement.
func (c *compiler) deferOutside(fn *Function, from []uint16, wrapper bool) {
	at := c.iteration.outside
	c.native("defer "+fn.name, &native{run: func(_ *thread, _, sb unsafe.Pointer) {
		(*deferrer)(*pointerAt(sb, at)).pushDeferred(fn, wrapper, from, sb)
	}})
}

// pushDeferred adds a deferred call below those of the functions that a has called. The registers in from, of the frame at sb, hold
// the addresses of the captured variables.
func (a *deferrer) pushDeferred(fn *Function, wrapper bool, from []uint16, sb unsafe.Pointer) {
	t := a.thread
	if len(t.deferred) >= maxDeferred {
		panic(&StackOverflow{t.depth})
	}
	i, at := len(t.deferred), len(t.captured)
	for ; i > 0 && int(t.deferred[i-1].frame) > a.depth; i-- {
		at = int(t.deferred[i-1].captured)
		t.deferred[i-1].captured += uint32(len(from))
	}
	call := deferredCall{function: fn, wrapper: wrapper, captured: uint32(at), frame: uint32(a.depth), nb: a.nb, sb: a.sb}
	t.deferred = slices.Insert(t.deferred, i, call)
	captured := make([]unsafe.Pointer, len(from))
	for i, register := range from {
		captured[i] = *pointerAt(sb, register)
	}
	t.captured = slices.Insert(t.captured, at, captured...)
}
