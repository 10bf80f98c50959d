package vm

import (
	"go/ast"
	"go/token"
)

// switchStmt compiles a switch over conditions; see package desugar.
func (c *compiler) switchStmt(s *ast.SwitchStmt, name string) {
	if s.Tag != nil {
		c.fail(s, "a switch over values")
	}
	m := c.mark()
	defer c.release(m)
	if s.Init != nil {
		c.initial(s.Init)
		c.setPosition(s)
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
			c.condition(e, true, bodies[i], false)
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
