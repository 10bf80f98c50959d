package vm

import "go/ast"

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
		if t.through = nil; i+1 < len(bodies) {
			t.through = bodies[i+1]
		}
		c.block(clause.Body)
		c.jump(t.exit, opJmp, 0, 0, 0)
	}
	c.targets = c.targets[:len(c.targets)-1]
	c.bind(t.exit)
}
