package vm

import (
	"go/ast"
	"go/token"
	"go/types"
)

// switchStmt compiles an expression switch to a chain of comparisons.
func (c *compiler) switchStmt(s *ast.SwitchStmt, name string) {
	m := c.mark()
	defer c.release(m)
	if s.Init != nil {
		c.stmt(s.Init, "")
		c.setPosition(s)
	}
	var tag *operand
	if s.Tag != nil {
		t := c.typeOf(s.Tag)
		if types.IsInterface(t) {
			c.fail(s, "a switch over an interface")
		}
		x := c.value(s.Tag, t)
		tag = &x
	}
	t := &target{label: name, exit: newLabel()}
	bodies := make([]*label, len(s.Body.List))
	otherwise := t.exit
	for i, cc := range s.Body.List {
		bodies[i] = newLabel()
		clause := cc.(*ast.CaseClause)
		if clause.List == nil {
			otherwise = bodies[i]
		}
		for _, e := range clause.List {
			c.setPosition(e)
			if tag == nil {
				c.condition(e, true, bodies[i], false)
				continue
			}
			c.caseOf(e, *tag, bodies[i])
		}
	}
	c.jump(otherwise, opJmp, 0, 0, 0)
	c.targets = append(c.targets, t)
	for i, cc := range s.Body.List {
		clause := cc.(*ast.CaseClause)
		c.bind(bodies[i])
		list, through := clause.Body, false
		if n := len(list); n > 0 {
			if b, ok := list[n-1].(*ast.BranchStmt); ok && b.Tok == token.FALLTHROUGH {
				list, through = list[:n-1], true
			}
		}
		c.block(list)
		if through {
			c.jump(bodies[i+1], opJmp, 0, 0, 0)
		} else {
			c.jump(t.exit, opJmp, 0, 0, 0)
		}
	}
	c.targets = c.targets[:len(c.targets)-1]
	c.bind(t.exit)
}

// caseOf emits a jump to body that is taken if the tag equals e.
func (c *compiler) caseOf(e ast.Expr, tag operand, body *label) {
	m := c.mark()
	defer c.release(m)
	t := c.typeOf(e)
	if types.IsInterface(t) || c.isNil(e) {
		c.fail(e, "a case that is nil or an interface")
	}
	switch {
	case tag.file == scalar && suffix(tag.typ.Kind(), "Add") == "I":
		if k, ok := c.smallConstant(e); ok {
			c.jump(body, opIfEqK, tag.reg, 0, k)
			return
		}
		c.jump(body, opIfEqI, tag.reg, c.expr(e, nil).reg, 0)
	case tag.file == scalar && suffix(tag.typ.Kind(), "Add") == "F":
		c.jump(body, opIfEqF, tag.reg, c.expr(e, nil).reg, 0)
	case tag.width == "Str":
		b := c.scalarRegister()
		c.do(opEqStr, b, tag.reg, c.expr(e, nil).reg)
		c.jump(body, opIf, b, 0, 0)
	case isComplex(tag.shape):
		b := c.scalarRegister()
		c.do(opNamed("Eq"+tag.width), b, tag.reg, c.expr(e, nil).reg)
		c.jump(body, opIf, b, 0, 0)
	case tag.file == reference && tag.width == "P":
		b := c.scalarRegister()
		c.do(opEqP, b, tag.reg, c.expr(e, nil).reg)
		c.jump(body, opIf, b, 0, 0)
	case tag.file == memory:
		b := c.temporary(boolShape)
		x := c.expr(e, nil)
		c.equalMemory(tag.shape, b, c.address(tag), c.address(x))
		c.jump(body, opIf, b.reg, 0, 0)
	default:
		c.fail(e, "a case of %s", t)
	}
}
