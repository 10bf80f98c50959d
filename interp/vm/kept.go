package vm

import (
	"go/ast"
	"go/token"
	"go/types"
	"unsafe"
)

// Variables of the session are in memory, because functions, goroutines and later cells use them. While an outermost loop of a cell
// runs, those that only statements of cells can reach are in registers:
//
//	total := 0                 total is in memory
//	for i := range 1000 {      load total
//		total += i             in a register
//	}                          store total
//
// They are also stored before a call that may wait, since an interrupted cell can be left behind there, and when the loop ends by a panic.

// keptVariable is a variable of the session that is in a register of the function of a cell.
type keptVariable struct {
	global *global
	shape  shape
	reg    uint16
}

// keeping is the state of the compiler in a loop with kept variables.
type keeping struct {
	assigned []keptVariable // those that the cell assigns to
	calls    int            // calls around the current expression
	at       uint16         // a slot for addresses
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
		c.load(p.shape, p.reg, p.offset, &v)
		c.release(inner)
		c.variables[o] = &variable{shape: v.shape, reg: v.reg}
		if c.facts.Assigned(o) {
			k.assigned = append(k.assigned, keptVariable{c.fn.globals[len(c.fn.globals)-1], v.shape, v.reg})
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
func (c *code) keepInThread(kept []keptVariable) {
	c.native("keep variables in registers", &native{run: func(t *thread, _, _ unsafe.Pointer) { t.kept = kept }})
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
			if c.source.Private(v) && !c.facts.Escapes(v) && c.shape(id, v.Type()).file != memory {
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
		c.fn.globals = append(c.fn.globals, v.global)
		c.emit(opGlobal, c.keeping.at, 0, 0, int32(len(c.fn.globals)-1), 0)
		c.store(c.keeping.at, 0, operand{shape: v.shape, reg: v.reg})
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

// storeKept stores the kept variables of the function of a cell that has not ended its loop.
func (t *thread) storeKept() {
	kept := t.kept
	t.kept = nil
	if kept == nil || t.vm.goroutineAbandoned() {
		return // in the second case other cells run already
	}
	for _, v := range kept {
		v.shape.spill(unsafe.Pointer(&t.scalars[0]), unsafe.Pointer(&t.slots[0]), v.reg, v.global.address)
	}
}
