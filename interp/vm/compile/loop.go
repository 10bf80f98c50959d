package compile

import (
	"go/ast"
	"go/token"
	"go/types"
	"unsafe"

	"github.com/quernlab/quern/interp/vm"
)

// forStmt compiles a for statement. The condition is tested before the loop and at the end of each
// iteration, where it is fused with the jump back.
func (c *compiler) forStmt(s *ast.ForStmt, name string) {
	m := c.mark()
	defer c.release(m)
	defer c.hoistGlobals(s)()
	c.hoist(s.Body)
	if s.Init != nil {
		c.initial(s.Init)
		c.setPosition(s)
	}
	t := &target{label: name, exit: newLabel(), next: newLabel()}
	if s.Cond != nil {
		c.condition(s.Cond, false, t.exit, false)
	}
	begin := newLabel()
	c.bind(begin)
	c.loops++
	defer func() { c.loops-- }()
	c.targets = append(c.targets, t)
	c.block(s.Body.List)
	c.targets = c.targets[:len(c.targets)-1]
	c.bind(t.next)
	c.renewLoopVariables(s)
	c.setPosition(s)
	if !c.countAndJump(s, begin) {
		if s.Post != nil {
			c.stmt(s.Post, "")
			c.setPosition(s)
		}
		if s.Cond != nil {
			c.condition(s.Cond, true, begin, true)
		} else {
			c.jump(begin, vm.OpLoop, 0, 0, 0)
		}
	}
	c.bind(t.exit)
	if s.Cond != nil {
		c.afterWait(s.Cond)
	}
}

// renewLoopVariables copies escaping loop variables to new ones for the next iteration.
func (c *compiler) renewLoopVariables(s *ast.ForStmt) {
	a, ok := s.Init.(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE {
		return
	}
	for _, e := range a.Lhs {
		v := c.declaredVariable(e)
		if v == nil || !c.facts.Escapes(v) {
			continue
		}
		x := c.variables[v]
		if !x.boxed && x.File != vm.Memory {
			continue // it does not change
		}
		m := c.mark()
		box := c.referenceRegister()
		c.emit(vm.OpCloneM, box, x.reg, 0, c.memoryType(x.Type), 0)
		c.do(vm.OpMovP, x.reg, box, 0)
		c.release(m)
	}
}

// countAndJump compiles the post statement i++ or i += k and the condition i < n or i <= n to one
// instruction. It reports whether the loop has this form.
func (c *compiler) countAndJump(s *ast.ForStmt, begin *label) bool {
	cond, ok := s.Cond.(*ast.BinaryExpr)
	if !ok || cond.Op != token.LSS && cond.Op != token.LEQ {
		return false
	}
	i := c.localInt(cond.X)
	if i == nil {
		return false
	}
	step := int32(1)
	switch post := s.Post.(type) {
	case *ast.IncDecStmt:
		if post.Tok != token.INC || c.localInt(post.X) != i {
			return false
		}
	case *ast.AssignStmt:
		if post.Tok != token.ADD_ASSIGN || c.localInt(post.Lhs[0]) != i {
			return false
		}
		k, ok := c.smallConstant(post.Rhs[0])
		if !ok {
			return false
		}
		step = k
	default:
		return false
	}
	if k, ok := c.smallConstant(cond.Y); ok && step == 1 {
		o := vm.OpLoopIncLtK
		if cond.Op == token.LEQ {
			o = vm.OpLoopIncLeK
		}
		c.jump(begin, o, i.reg, 0, k)
		return true
	}
	m := c.mark()
	defer c.release(m)
	var n uint16
	if v := c.localInt(cond.Y); v != nil && v != i {
		n = v.reg
	} else if x, ok := c.localLength(cond.Y); ok && cond.Op == token.LSS {
		c.jump(begin, vm.OpLoopAddLtLen, i.reg, x, step)
		return true
	} else {
		return false
	}
	o := vm.OpLoopAddLt
	if cond.Op == token.LEQ {
		o = vm.OpLoopAddLe
	}
	c.jump(begin, o, i.reg, n, step)
	return true
}

// localInt returns the variable e if it is a signed 64-bit integer in a register; else nil.
func (c *compiler) localInt(e ast.Expr) *variable {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v := c.variables[c.source.Info.ObjectOf(id)]
	if v == nil || v.boxed || v.File != vm.Scalar || v.Width != "64" || !isSigned(v.Type.Kind()) {
		return nil
	}
	return v
}

// localLength returns the slot of x if e is len(x) of a slice or string x in a slot, and reports whether e has this form.
func (c *compiler) localLength(e ast.Expr) (uint16, bool) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || !c.source.Info.Types[call.Fun].IsBuiltin() || calleeName(call.Fun) != "len" {
		return 0, false
	}
	id, ok := ast.Unparen(call.Args[0]).(*ast.Ident)
	if !ok {
		return 0, false
	}
	v := c.variables[c.source.Info.ObjectOf(id)]
	if v == nil || v.boxed || v.Width != "Sl" && v.Width != "Str" {
		return 0, false
	}
	return v.reg, true
}

// rangeStmt compiles a range statement.
func (c *compiler) rangeStmt(s *ast.RangeStmt, name string) {
	m := c.mark()
	defer c.release(m)
	if sig := c.iterator(s); sig != nil {
		c.rangeFunction(s, name, sig)
		return
	}
	defer c.hoistGlobals(s)()
	c.hoist(s)
	c.loops++
	defer func() { c.loops-- }()
	r := &rangeLoop{c: c, s: s, both: assignsBoth(s), target: &target{label: name, exit: newLabel(), next: newLabel()}}
	switch t := c.typeOf(s.X).Underlying().(type) {
	case *types.Basic:
		if t.Info()&types.IsString != 0 {
			r.runes()
		} else {
			r.integers()
		}
	case *types.Slice:
		r.slice(t.Elem())
	case *types.Array:
		r.array(t)
	case *types.Pointer:
		a, ok := t.Elem().Underlying().(*types.Array)
		if !ok {
			c.fail(s, "range over %s", t)
		}
		r.arrayPointer(a)
	case *types.Map:
		r.entries(t)
	case *types.Chan:
		r.channel()
	default:
		c.fail(s, "range over %s", t)
	}
	c.bind(r.target.exit)
}

// Variables of the session are in memory, because functions, goroutines and later cells use them. While an outermost loop of a cell
// runs, those that only statements of cells can reach are in registers:
//
//	total := 0                 total is in memory
//	for i := range 1000 {      load total
//		total += i             in a register
//	}                          store total
//
// They are also stored before a call that may wait, since an interrupted cell can be left behind there, and when the loop ends by a panic.

// keeping is the state of the compiler in a loop with kept variables.
type keeping struct {
	assigned []vm.KeptVariable // those that the cell assigns to
	calls    int               // calls around the current expression
	at       uint16            // a slot for addresses
}

// keep compiles a loop of a cell with the label name, or "", by compile: with variables in registers if possible.
func (c *compiler) keep(loop ast.Stmt, name string, compile func()) {
	if c.keeping != nil || !c.cellBody || c.loops > 0 || c.source.Private == nil || c.leaves(loop, name) {
		compile()
		return
	}
	names := c.keepable(loop)
	if len(names) == 0 {
		compile()
		return
	}
	m := c.mark()
	k := &keeping{}
	for _, id := range names {
		o := c.source.Info.ObjectOf(id).(*types.Var)
		v := c.temporary(c.shape(id, o.Type()))
		inner := c.mark()
		p := c.global(id, o)
		c.load(p.Shape, p.reg, p.offset, &v)
		c.release(inner)
		c.variables[o] = &variable{Shape: v.Shape, reg: v.reg}
		if c.facts.Assigned(o) {
			k.assigned = append(k.assigned, vm.KeptVariable{Global: c.fn.Globals[len(c.fn.Globals)-1], Register: v.register()})
		}
	}
	k.at = c.referenceRegister()
	c.keeping = k
	c.keepInThread(k.assigned)
	compile()
	c.storeKept()
	c.keepInThread(nil)
	c.keeping = nil
	for _, id := range names {
		delete(c.variables, c.source.Info.ObjectOf(id))
	}
	c.release(m)
}

// keepInThread emits code that says which variables are stored when the function of the cell ends by a panic.
func (c *code) keepInThread(kept []vm.KeptVariable) {
	c.native("keep variables in registers", &vm.Native{Run: func(t *vm.Thread, _, _ unsafe.Pointer) { t.Keep(kept) }})
}

// leaves reports whether a loop has a statement that may go elsewhere than behind the loop, or that starts or defers calls.
func (c *compiler) leaves(loop ast.Stmt, name string) (leaves bool) {
	if len(c.facts.JumpLabels) > 0 {
		return true
	}
	if s, ok := loop.(*ast.RangeStmt); ok && c.iterator(s) != nil {
		return true
	}
	inner := map[string]bool{}
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.LabeledStmt:
			inner[n.Label.Name] = true
		case *ast.BranchStmt:
			leaves = leaves || n.Label != nil && !inner[n.Label.Name] && n.Tok != token.FALLTHROUGH && n.Label.Name != name
		case *ast.ReturnStmt, *ast.GoStmt, *ast.DeferStmt:
			leaves = true
		}
		return !leaves
	})
	return leaves
}

// keepable returns the names of the variables that can be in registers during a loop.
func (c *compiler) keepable(loop ast.Stmt) (names []*ast.Ident) {
	known := map[types.Object]bool{}
	ast.Inspect(loop, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v, ok := c.source.Info.Uses[id].(*types.Var)
		if ok && !known[v] && !v.IsField() && c.source.Global(v) != "" {
			known[v] = true
			if c.source.Private(v) && !c.facts.Escapes(v) && c.shape(id, v.Type()).File != vm.Memory {
				names = append(names, id)
			}
		}
		return true
	})
	return names
}

// storeKept emits code that stores the kept variables that the loop may have changed.
func (c *compiler) storeKept() {
	for _, v := range c.keeping.assigned {
		c.fn.Globals = append(c.fn.Globals, v.Global)
		c.emit(vm.OpGlobal, c.keeping.at, 0, 0, int32(len(c.fn.Globals)-1), 0)
		c.store(c.keeping.at, 0, operand{Shape: v.Shape, reg: v.Reg})
	}
}

// beforeCall stores the kept variables before a call, unless one around it has done that. The result ends the call.
func (c *compiler) beforeCall(e *ast.CallExpr) (end func()) {
	if c.keeping == nil || c.isBrief(e) {
		return func() {}
	}
	if c.keeping.calls == 0 {
		c.storeKept()
	}
	k := c.keeping
	k.calls++
	return func() { k.calls-- }
}

// brief are packages whose functions return soon, whatever their arguments are.
var brief = map[string]bool{"cmp": true, "math": true, "math/bits": true, "math/cmplx": true, "math/rand": true, "math/rand/v2": true, "strconv": true, "unicode": true, "unicode/utf8": true}

// isBrief reports whether e calls a function of such a package.
func (c *compiler) isBrief(e *ast.CallExpr) bool {
	f := c.calledFunction(e)
	return f != nil && f.Pkg() != nil && brief[f.Pkg().Path()]
}
