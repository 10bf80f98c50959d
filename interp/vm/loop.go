package vm

import (
	"go/ast"
	"go/token"
	"go/types"
)

// forStmt compiles a for statement. The condition is tested before the loop and at the end of each
// iteration, where it is fused with the jump back.
func (c *compiler) forStmt(s *ast.ForStmt, name string) {
	m := c.mark()
	defer c.release(m)
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
			c.jump(begin, opLoop, 0, 0, 0)
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
		m := c.mark()
		box := c.referenceRegister()
		c.emit(opCloneM, box, x.reg, 0, c.memoryType(x.typ), 0)
		c.do(opMovP, x.reg, box, 0)
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
		o := opLoopIncLtK
		if cond.Op == token.LEQ {
			o = opLoopIncLeK
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
		c.jump(begin, opLoopAddLtLen, i.reg, x, step)
		return true
	} else {
		return false
	}
	o := opLoopAddLt
	if cond.Op == token.LEQ {
		o = opLoopAddLe
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
	if v == nil || v.boxed || v.file != scalar || v.width != "64" || !isSigned(v.typ.Kind()) {
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
	if v == nil || v.boxed || v.width != "Sl" && v.width != "Str" {
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
