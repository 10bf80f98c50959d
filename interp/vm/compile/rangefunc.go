package compile

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unsafe"

	"github.com/quernlab/quern/interp/facts"
	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/vm"
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
//	                                  if x == 4 { state = FirstExit; return false }
//	                                  state = ready; return true
//	                              })
//	                              how, state := state, ended; panic if how is running
//	                              if how == returned { return result }
//	                              if how == FirstExit { break outer }
//
// The body captures the variables of the function that it uses, and the result variables if it contains a
// return statement; see package facts.

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
	c.emit(vm.OpNew, state, 0, 0, c.memoryType(intShape.Type), 0)
	it := &iteration{labels: labelsIn(s.Body)}
	outside := vm.NoRegister
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
	c.jump(ended, vm.OpIfNeK, how.reg, 0, vm.StateRunning)
	c.native("panic", &vm.Native{Run: func(*vm.Thread, unsafe.Pointer, unsafe.Pointer) { panic(rt.RangeSwallowed()) }})
	c.bind(ended)
	c.emit(vm.OpSetState, state, 0, 0, vm.StateEnded, 0)
	if it.returns {
		otherwise := newLabel()
		c.jump(otherwise, vm.OpIfNeK, how.reg, 0, vm.StateReturned)
		c.returnResults()
		c.bind(otherwise)
	}
	for i, e := range it.exits {
		otherwise := newLabel()
		c.jump(otherwise, vm.OpIfNeK, how.reg, 0, int32(vm.FirstExit+i))
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
func (c *compiler) iterationBody(s *ast.RangeStmt, name string, yield *types.Signature, it *iteration, state, outside uint16) (fn *vm.Function, from []uint16) {
	fn = c.unit.newFunction(strings.TrimSuffix(c.fn.Name, ".func") + ".func")
	inner := &compiler{
		code: c.of(fn), source: c.source, substitute: c.substitute, signature: c.signature, iteration: it,
		variables: map[types.Object]*variable{}, facts: c.facts, hoisted: map[types.Object]uint16{}, labels: map[string]*label{}, loops: 1,
	}
	inner.setPosition(s)
	parameters := inner.iterationParameters(s, yield)
	capture := func(x operand) uint16 {
		at := inner.referenceRegister()
		fn.Captures, from = append(fn.Captures, at), append(from, x.reg)
		return at
	}
	it.state = capture(operand{reg: state})
	if outside != vm.NoRegister {
		it.outside = capture(operand{reg: outside})
	}
	nodes := []ast.Node{s.Body}
	for _, e := range []ast.Expr{s.Key, s.Value} {
		if e != nil {
			nodes = append(nodes, e)
		}
	}
	var loaded []*variable
	for _, o := range c.capturedVariables(nodes...) {
		at, x := inner.capture(s, o, c.variables[o])
		from = append(from, at)
		if x != nil {
			loaded = append(loaded, x)
		}
	}
	if returnsIn(s.Body) {
		for _, v := range c.results {
			inner.results = append(inner.results, &variable{Shape: v.Shape, reg: capture(operand{reg: v.reg}), boxed: v.boxed})
		}
	}
	inner.ownParameters(vm.FrameRegisters(fn.Parameters), all)
	inner.do(vm.OpBeginBody, it.state, 0, 0)
	inner.loadCaptured(loaded)
	inner.iterationVariables(s, yield, parameters)
	t := &target{label: name, exit: newLabel(), next: newLabel()}
	inner.targets = append(inner.targets, t)
	inner.hooksAfter(s)
	inner.block(s.Body.List)
	inner.setPosition(s)
	inner.bind(t.next)
	inner.leaveBody(vm.StateReady)
	inner.bind(t.exit)
	inner.leaveBody(vm.StateLeft)
	inner.emit(vm.OpInvalid, 0, 0, 0, 0, 0)
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
		c.fn.Parameters = append(c.fn.Parameters, p.Shape)
	}
	c.fn.Results = []vm.Shape{boolShape}
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
			c.parameter(v, p.Shape, p.reg, true)
			continue
		}
		m := c.mark()
		c.set(c.locate(e), c.converted(s, p, c.subst(yield.Params().At(i).Type()), c.typeOf(e), nil))
		c.release(m)
	}
}

// leaveBody ends an iteration: it stores the state and returns whether to continue.
func (c *compiler) leaveBody(state int32) {
	c.emit(vm.OpLeaveBody, c.iteration.state, 0, 0, state, int32(vm.BoolToInt(state == vm.StateReady)))
}

// exitBody compiles a branch to a statement outside the body.
func (c *compiler) exitBody(s *ast.BranchStmt) {
	it, e := c.iteration, exit{s.Tok, s.Label.Name}
	i := slices.Index(it.exits, e)
	if i < 0 {
		i = len(it.exits)
		it.exits = append(it.exits, e)
	}
	c.leaveBody(int32(vm.FirstExit + i))
}

// deferrer returns a register with the address of the deferrer to which defer statements belong.
func (c *compiler) deferrer() uint16 {
	if c.iteration != nil {
		return c.iteration.outside
	}
	at := c.referenceRegister()
	c.native("deferrer", &vm.Native{Run: func(t *vm.Thread, nb, sb unsafe.Pointer) {
		*vm.PointerAt(sb, at) = unsafe.Pointer(t.Deferrer(nb, sb))
	}})
	return at
}

// deferOutside defers a closure of fn in the function around the range statement.
func (c *compiler) deferOutside(fn *vm.Function, from []uint16, wrapper bool) {
	at := c.iteration.outside
	c.native("defer "+fn.Name, &vm.Native{Run: func(_ *vm.Thread, _, sb unsafe.Pointer) {
		(*vm.Deferrer)(*vm.PointerAt(sb, at)).PushDeferred(fn, wrapper, from, sb)
	}})
}
