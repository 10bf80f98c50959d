package compile

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/facts"
	"github.com/quernlab/quern/interp/vm"
)

// body compiles the body of a function. captured, if not nil, is called when the parameters have their
// registers.
func (c *compiler) body(n ast.Node, sig *types.Signature, recv *types.Var, body *ast.BlockStmt, captured func() []*variable) {
	c.setPosition(n)
	c.signature, c.defers = sig, facts.Defers(body.List)
	var parameters []*types.Var
	if recv != nil {
		parameters = append(parameters, recv)
	}
	for v := range sig.Params().Variables() {
		parameters = append(parameters, v)
	}
	at := make([]uint16, len(parameters))
	for i, v := range parameters {
		s := c.shape(n, c.subst(v.Type()))
		c.fn.Parameters = append(c.fn.Parameters, s)
		at[i] = c.register(s)
	}
	for v := range sig.Results().Variables() {
		c.fn.Results = append(c.fn.Results, c.shape(n, c.subst(v.Type())))
	}
	// The results use the same registers as the parameters.
	m := c.mark()
	c.release(mark{})
	for _, s := range c.fn.Results {
		c.register(s)
	}
	c.release(mark{max(m.scalars, c.scalarsInUse), max(m.slots, c.slotsInUse)})
	var loaded []*variable
	if captured != nil {
		loaded = captured()
	}
	reads := !c.defers && slices.ContainsFunc(c.fn.Parameters, func(s vm.Shape) bool { return s.File == vm.Memory }) && c.onlyReads(body)
	lent := func(i int) bool { return reads && !c.facts.Escapes(parameters[i]) && !c.facts.Assigned(parameters[i]) }
	c.fn.LentReceiver = recv != nil && c.fn.Parameters[0].File == vm.Memory && lent(0)
	c.ownParameters(at, func(i int) bool { return !lent(i) && used(parameters[i]) })
	c.loadCaptured(loaded)
	for i, v := range parameters {
		c.parameter(v, c.fn.Parameters[i], at[i], !lent(i))
	}
	named := false
	for i := range sig.Results().Len() {
		v := sig.Results().At(i)
		named = named || v.Name() != ""
		if v.Name() != "" || c.defers || c.facts.ReturnedInBody(sig.Results()) {
			c.results = append(c.results, c.declare(v, c.fn.Results[i], nil))
		}
	}
	c.reserveAddresses(n)
	if c.cellBody {
		c.topLevel(body.List)
	} else {
		c.block(body.List)
	}
	c.setPosition(body)
	if c.defers {
		c.fn.Epilogue = len(c.fn.Code)
	}
	if sig.Results().Len() == 0 || named || c.defers {
		c.returnResults()
	}
	c.emit(vm.OpInvalid, 0, 0, 0, 0, 0)
}

// capture makes the captured variable v of another function a variable of c. It returns the register that holds what is captured, in the
// other function; loaded is the variable of c if loadCaptured has to load it.
func (c *compiler) capture(n ast.Node, o types.Object, v *variable) (from uint16, loaded *variable) {
	at := c.referenceRegister()
	c.fn.Captures = append(c.fn.Captures, at)
	c.fn.CapturesVariable(v.Type, v.box == 0 && !v.boxed && v.File != vm.Memory)
	x := &variable{Shape: v.Shape, reg: at, boxed: v.boxed}
	c.variables[o] = x
	switch {
	case v.box != 0:
		x.reg, x.box = c.register(v.Shape), at
		return v.box, x
	case !v.boxed && v.File != vm.Memory && v.Width != "P":
		c.fail(n, "the variable %s in a register, captured by a function literal", o.Name())
	}
	return v.reg, nil
}

// loadCaptured loads captured variables that do not change.
func (c *code) loadCaptured(list []*variable) {
	for _, v := range list {
		c.load(v.Shape, v.box, 0, &operand{Shape: v.Shape, reg: v.reg})
	}
}

// used reports whether the function can use its parameter v.
func used(v *types.Var) bool { return v.Name() != "" && v.Name() != "_" }

// parameter declares the parameter v, whose value is in register at. owned says that nothing else refers to a value in memory.
func (c *compiler) parameter(v *types.Var, s vm.Shape, at uint16, owned bool) {
	if !used(v) {
		return
	}
	x := &variable{Shape: s, reg: at, owned: owned && s.File == vm.Memory && !c.facts.Escapes(v)}
	c.variables[v] = x
	if s.File == vm.Memory || !c.facts.Escapes(v) || c.copied(v, s) {
		return
	}
	x.box = c.referenceRegister()
	c.fillBox(x)
	if c.facts.Changes(v) {
		x.boxed, x.reg, x.box = true, x.box, 0
	}
}

// A struct or an array is passed by its address. The caller of f(x) would have to copy x, because f may change its parameter, or something
// else may change x before f has read it. It need not if f only reads the parameter and changes nothing meanwhile. Only the code of f
// knows that, and which code that is may change when f is declared again. So the caller only says in its instruction whether it lends variables of its
// own, and f copies what it needs to:
//
//	first instruction:  copy the parameters that f does not only read    a call that lends variables begins here
//	Function.Start:     the code of f                                    any other call begins here

// lending returns what the instruction of a call with the arguments in b has in its field J.
func (b *callFrame) lending() int32 {
	if b.lent {
		return vm.Lends
	}
	return 0
}

// ownParameters emits the copies of the parameters for which keep says so. at are their registers.
func (c *code) ownParameters(at []uint16, keep func(i int) bool) {
	for i, s := range c.fn.Parameters {
		if s.File == vm.Memory && keep(i) {
			c.emit(vm.OpCloneM, at[i], at[i], 0, c.memoryType(s.Type), 0)
		}
	}
	c.fn.Start = len(c.fn.Code)
}

func all(int) bool { return true }

// onlyReads reports whether a function body changes nothing but its own variables, and calls nothing that does. Then parameters that it does
// not assign to remain the same while it runs.
func (c *compiler) onlyReads(body *ast.BlockStmt) bool {
	only := true
	local := func(e ast.Expr) bool {
		if isBlank(e) {
			return true
		}
		v := facts.Root(c.source.Info, func(e ast.Expr) types.Type { return c.typeOf(e).Underlying() }, e)
		return v != nil && c.facts.Declared(v) && !c.facts.Escapes(v)
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				only = only && local(e)
			}
		case *ast.IncDecStmt:
			only = only && local(n.X)
		case *ast.RangeStmt:
			switch c.typeOf(n.X).Underlying().(type) {
			case *types.Signature, *types.Chan: // others run meanwhile
				only = false
			}
			for _, e := range []ast.Expr{n.Key, n.Value} {
				only = only && (e == nil || local(e))
			}
		case *ast.CallExpr:
			only = only && c.changesNothing(n)
		case *ast.UnaryExpr:
			only = only && n.Op != token.ARROW
		case *ast.FuncLit, *ast.GoStmt, *ast.DeferStmt, *ast.SendStmt, *ast.SelectStmt:
			only = false
		}
		return only
	})
	return only
}

// readers are packages whose functions change nothing that is reached from numbers, texts and points in time.
var readers = map[string]bool{
	"cmp": true, "math": true, "math/bits": true, "math/cmplx": true, "strconv": true, "strings": true, "time": true, "unicode": true, "unicode/utf8": true,
}

// changesNothing reports whether a call is a conversion, or calls a function that changes nothing, apart from its arguments.
func (c *compiler) changesNothing(e *ast.CallExpr) bool {
	if tv := c.source.Info.Types[e.Fun]; tv.IsType() {
		return true
	} else if tv.IsBuiltin() {
		switch calleeName(e.Fun) {
		case "append", "clear", "close", "copy", "delete", "print", "println", "recover":
			return false
		}
		return true
	}
	f := c.calledFunction(e)
	if f == nil || f.Pkg() == nil || !readers[f.Pkg().Path()] || strings.HasPrefix(f.Name(), "Append") || f.FullName() == "time.Sleep" {
		return false
	}
	sig, ok := c.typeOf(e.Fun).Underlying().(*types.Signature)
	if !ok || sig.Recv() != nil && !isValue(sig.Recv().Type()) {
		return false
	}
	for v := range sig.Params().Variables() {
		t := c.subst(v.Type())
		if s, ok := t.(*types.Slice); ok && f.Pkg().Path() == "cmp" {
			t = s.Elem()
		}
		if !isValue(t) {
			return false
		}
	}
	return true
}

// isValue reports whether a value of type t leads to nothing that a call of a compiled function could change: it is a number, a text or a
// point in time.
func isValue(t types.Type) bool {
	if _, ok := t.Underlying().(*types.Basic); ok {
		return true
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "time" && n.Obj().Name() == "Time"
}
