package vm

import (
	"fmt"
	"go/ast"
	"go/token"
	"unsafe"
)

// target is a statement that break or continue can refer to.
type target struct {
	label string
	plain bool   // only a break with its label refers to it
	exit  *label // where break goes
	next  *label // where continue goes; nil if it is not a loop
	// through is where fallthrough goes; nil outside of a switch and in its last clause.
	through *label
}

// block compiles statements in a scope of their own.
func (c *compiler) block(list []ast.Stmt) {
	m := c.mark()
	c.list(list)
	c.release(m)
}

func (c *compiler) list(list []ast.Stmt) {
	recorded := c.recorded
	for i, s := range list {
		c.recorded = c.isRecordAt(list, i+1) || recorded && i == len(list)-1
		c.stmt(s, "")
	}
	c.recorded = recorded
	if !recorded {
		c.beforeNext(nil)
	}
}

// topLevel compiles the statements of a cell. What a statement leaves in registers does not keep anything alive while the next one runs:
// people collect garbage there, and look what is gone.
func (c *compiler) topLevel(list []ast.Stmt) {
	for i, s := range list {
		c.recorded = c.isRecordAt(list, i+1)
		c.stmt(s, "")
		if c.hasCalls(s) {
			c.clearUnused()
		}
	}
	c.beforeNext(nil)
}

// maxCleared limits the slots that clearUnused clears.
const maxCleared = 1 << 16

// clearUnused clears the slots that are not in use.
func (c *code) clearUnused() {
	used := uintptr(c.slotsInUse) * slotSize
	c.native("clear unused slots", &native{run: func(t *thread, _, sb unsafe.Pointer) {
		first := (uintptr(sb) + used - uintptr(unsafe.Pointer(&t.slots[0]))) / slotSize
		rest := t.slots[min(first, uintptr(len(t.slots))):]
		clear(rest[:min(len(rest), maxCleared)])
	}})
}

// stmt compiles a statement. name is its label, or "".
func (c *compiler) stmt(s ast.Stmt, name string) {
	c.beforeNext(s)
	c.setPosition(s)
	c.hooksBefore(s)
	switch s := s.(type) {
	case *ast.EmptyStmt:
	case *ast.BlockStmt:
		c.breakable(name, func() { c.block(s.List) })
	case *ast.ExprStmt:
		m := c.mark()
		c.effect(s.X)
		c.release(m)
		c.afterWait(s.X)
	case *ast.AssignStmt:
		c.assign(s)
		c.afterWait(s)
	case *ast.IncDecStmt:
		m := c.mark()
		o := token.ADD
		if s.Tok == token.DEC {
			o = token.SUB
		}
		c.increment(s.X, o)
		c.release(m)
	case *ast.DeclStmt:
		c.declaration(s)
		c.afterWait(s)
	case *ast.IfStmt:
		c.breakable(name, func() { c.ifStmt(s) })
	case *ast.ForStmt:
		c.keep(s, name, func() { c.forStmt(s, name) })
	case *ast.RangeStmt:
		c.keep(s, name, func() { c.rangeStmt(s, name) })
	case *ast.SwitchStmt:
		c.switchStmt(s, name)
	case *ast.TypeSwitchStmt:
		c.typeSwitch(s, name)
	case *ast.ReturnStmt:
		c.returnStmt(s)
	case *ast.BranchStmt:
		c.branch(s)
	case *ast.SendStmt:
		m := c.mark()
		c.send(s)
		c.release(m)
	case *ast.GoStmt:
		c.goStatement(s)
	case *ast.SelectStmt:
		c.selectStmt(s, name)
	case *ast.DeferStmt:
		c.deferStatement(s)
	case *ast.LabeledStmt:
		c.bind(c.labelNamed(s.Label.Name))
		c.stmt(s.Stmt, s.Label.Name)
	default:
		panic(fmt.Sprintf("vm: the statement %T", s))
	}
	if _, head := s.(*ast.RangeStmt); !head {
		c.hooksAfter(s)
	}
}

// breakable compiles a statement that a break with the label name leaves.
func (c *compiler) breakable(name string, compile func()) {
	if name == "" {
		compile()
		return
	}
	t := &target{label: name, plain: true, exit: newLabel()}
	c.targets = append(c.targets, t)
	compile()
	c.targets = c.targets[:len(c.targets)-1]
	c.bind(t.exit)
}

func (c *compiler) labelNamed(name string) *label {
	l, ok := c.labels[name]
	if !ok {
		l = newLabel()
		c.labels[name] = l
	}
	return l
}

// effect compiles an expression whose value is not used.
func (c *compiler) effect(e ast.Expr) {
	e = ast.Unparen(e)
	if call, ok := e.(*ast.CallExpr); ok {
		if tv := c.source.Info.Types[call.Fun]; !tv.IsType() && !tv.IsBuiltin() {
			c.compileCall(call)
			return
		}
	}
	c.expr(e, nil)
}

func (c *compiler) branch(s *ast.BranchStmt) {
	name := ""
	if s.Label != nil {
		name = s.Label.Name
	}
	if s.Tok == token.GOTO && (c.iteration == nil || c.iteration.labels[name]) {
		c.jump(c.labelNamed(name), opLoop, 0, 0, 0)
		return
	}
	for i := len(c.targets) - 1; i >= 0; i-- {
		t := c.targets[i]
		switch {
		case s.Tok == token.FALLTHROUGH:
			if t.through != nil {
				c.jump(t.through, opJmp, 0, 0, 0)
				return
			}
		case name != "" && t.label != name, name == "" && t.plain:
		case s.Tok == token.BREAK:
			c.jump(t.exit, opJmp, 0, 0, 0)
			return
		case s.Tok == token.CONTINUE && t.next != nil:
			c.jump(t.next, opJmp, 0, 0, 0)
			return
		}
	}
	if c.iteration != nil && s.Label != nil {
		c.exitBody(s)
		return
	}
	c.fail(s, "the statement %s in this context", s.Tok)
}

func (c *compiler) ifStmt(s *ast.IfStmt) {
	m := c.mark()
	if s.Init != nil {
		c.initial(s.Init)
	}
	c.setPosition(s)
	otherwise := newLabel()
	c.condition(s.Cond, false, otherwise, false)
	c.afterWait(s.Cond)
	c.block(s.Body.List)
	if s.Else == nil {
		c.bind(otherwise)
		c.afterWait(s.Cond)
		c.release(m)
		return
	}
	end := newLabel()
	c.jump(end, opJmp, 0, 0, 0)
	c.bind(otherwise)
	c.afterWait(s.Cond)
	c.stmt(s.Else, "")
	c.bind(end)
	c.release(m)
}
