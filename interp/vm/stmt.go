package vm

import (
	"go/ast"
	"go/token"
	"go/types"
)

// target is a statement that break or continue can leave.
type target struct {
	label string
	plain bool   // only a break with the label leaves it
	exit  *label // where break goes
	next  *label // where continue goes; nil for what is no loop
}

// block compiles statements whose variables end with them.
func (c *compiler) block(list []ast.Stmt) {
	m := c.mark()
	c.list(list)
	c.release(m)
}

func (c *compiler) list(list []ast.Stmt) {
	for _, s := range list {
		c.stmt(s, "")
	}
}

// stmt compiles a statement, which has the given label.
func (c *compiler) stmt(s ast.Stmt, name string) {
	c.at(s)
	c.notes(s)
	switch s := s.(type) {
	case *ast.EmptyStmt:
	case *ast.BlockStmt:
		c.breakable(name, func() { c.block(s.List) })
	case *ast.ExprStmt:
		m := c.mark()
		c.effect(s.X)
		c.release(m)
	case *ast.AssignStmt:
		c.assign(s)
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
	case *ast.IfStmt:
		c.breakable(name, func() { c.ifStmt(s) })
	case *ast.ForStmt:
		c.forStmt(s, name)
	case *ast.RangeStmt:
		c.rangeStmt(s, name)
	case *ast.SwitchStmt:
		c.switchStmt(s, name)
	case *ast.TypeSwitchStmt:
		c.typeSwitch(s, name)
	case *ast.ReturnStmt:
		c.returns(s)
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
		c.place(c.labelNamed(s.Label.Name))
		c.stmt(s.Stmt, s.Label.Name)
	default:
		c.fail(s, "a statement %T", s)
	}
	if _, head := s.(*ast.RangeStmt); !head {
		c.losses(s)
	}
}

// breakable compiles a statement that a break with its label leaves.
func (c *compiler) breakable(name string, compile func()) {
	if name == "" {
		compile()
		return
	}
	t := &target{label: name, plain: true, exit: newLabel()}
	c.targets = append(c.targets, t)
	compile()
	c.targets = c.targets[:len(c.targets)-1]
	c.place(t.exit)
}

func (c *compiler) labelNamed(name string) *label {
	l, ok := c.labels[name]
	if !ok {
		l = newLabel()
		c.labels[name] = l
	}
	return l
}

// effect compiles an expression whose values are not used.
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
	c.fail(s, "the statement %s here", s.Tok)
}

func (c *compiler) ifStmt(s *ast.IfStmt) {
	m := c.mark()
	if s.Init != nil {
		c.stmt(s.Init, "")
	}
	c.at(s)
	otherwise := newLabel()
	c.condition(s.Cond, false, otherwise, false)
	c.block(s.Body.List)
	if s.Else == nil {
		c.place(otherwise)
		c.release(m)
		return
	}
	end := newLabel()
	c.jump(end, opJmp, 0, 0, 0)
	c.place(otherwise)
	c.stmt(s.Else, "")
	c.place(end)
	c.release(m)
}

// declaration compiles var statements in a function.
func (c *compiler) declaration(s *ast.DeclStmt) {
	d, ok := s.Decl.(*ast.GenDecl)
	if ok && d.Tok == token.TYPE && c.substitute != nil {
		c.fail(s, "a type in a generic function")
	}
	if !ok || d.Tok != token.VAR {
		return
	}
	for _, spec := range d.Specs {
		v := spec.(*ast.ValueSpec)
		switch {
		case len(v.Values) == 0:
			for _, id := range v.Names {
				if o, ok := c.source.Info.Defs[id].(*types.Var); ok && id.Name != "_" {
					c.declare(o, c.shape(id, c.subst(o.Type())), nil)
				}
			}
		default:
			var lhs []ast.Expr
			for _, id := range v.Names {
				lhs = append(lhs, id)
			}
			c.define(s, lhs, v.Values)
		}
	}
}

// declare makes a local variable with the value x, or its zero value.
func (c *compiler) declare(o *types.Var, s shape, x *operand) *variable {
	v := &variable{shape: s, boxed: s.file != memory && c.facts.shared[o]}
	switch {
	case s.file == memory:
		c.declareMemory(v, o, x)
	case v.boxed:
		cell := c.referenceRegister()
		c.emit(opNew, cell, 0, 0, c.memoryType(s.typ), 0)
		if x != nil {
			c.store(cell, 0, *x)
		}
		v.at = cell
	default:
		v.at = c.register(s)
		switch {
		case x != nil:
			c.move(operand{shape: s, at: v.at}, *x)
		case s.file == scalar:
			c.do(opConst, v.at, 0, 0)
		default:
			c.do(opNil, v.at, 0, 0)
		}
	}
	c.variables[o] = v
	return v
}

// declareMemory makes a variable whose value is in memory. One that is declared
// in a loop and that nothing refers to keeps its memory from one iteration to the
// next.
func (c *compiler) declareMemory(v *variable, o *types.Var, x *operand) {
	v.owned = !c.facts.shared[o]
	k := c.memoryType(v.typ)
	if at, ok := c.hoisted[o]; ok {
		v.at = at
		switch {
		case x == nil:
			c.emit(opZeroM, at, 0, 0, k, 0)
		case x.owned && x.offset == 0:
			c.do(opMovP, at, x.at, 0)
		default:
			c.emit(opCopyM, at, c.address(*x), 0, k, 0)
		}
		return
	}
	v.at = c.referenceRegister()
	switch {
	case x == nil:
		c.emit(opNew, v.at, 0, 0, k, 0)
	default:
		c.own(*x, &operand{shape: v.shape, at: v.at})
	}
}

// hoist makes, before a loop, the memory of the variables that it declares.
func (c *compiler) hoist(loop ast.Node) {
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.RangeStmt:
			if c.iterator(n) != nil {
				return false // its body is a function
			}
		}
		id, ok := n.(*ast.Ident)
		if !ok || id.Name == "_" {
			return true
		}
		o, ok := c.source.Info.Defs[id].(*types.Var)
		if !ok || o.IsField() || c.facts.shared[o] {
			return true
		}
		if _, done := c.hoisted[o]; done {
			return true
		}
		s := c.shape(id, c.subst(o.Type()))
		if s.file != memory {
			return true
		}
		at := c.referenceRegister()
		c.emit(opNew, at, 0, 0, c.memoryType(s.typ), 0)
		c.hoisted[o] = at
		return true
	})
}

// returns compiles a return statement. The results go to the first registers,
// where the parameters are.
func (c *compiler) returns(s *ast.ReturnStmt) {
	m := c.mark()
	defer c.release(m)
	types, variables := c.fn.results, c.defers
	if c.iteration != nil {
		types, variables = nil, true
		for _, v := range c.results {
			types = append(types, v.shape)
		}
	}
	switch {
	case len(s.Results) == 0:
		c.leave()
		return
	case len(s.Results) == 1 && len(types) == 1 && variables:
		c.setResults([]operand{c.exprTo(s.Results[0], c.resultType(0), nil)})
		c.leave()
		return
	case len(s.Results) == 1 && len(types) == 1:
		t := c.resultType(0)
		at := places(types)[0]
		want := operand{shape: types[0], at: at}
		x := c.exprTo(s.Results[0], t, &want)
		if types[0].file == memory {
			c.give(x, at)
		}
		c.do(opRet, 0, 0, 0)
		return
	}
	var values []operand
	if len(s.Results) == 1 {
		call, ok := ast.Unparen(s.Results[0]).(*ast.CallExpr)
		if !ok {
			c.fail(s, "several values in a return statement")
		}
		from := c.source.Info.Types[s.Results[0]].Type
		values = c.compileCall(call)
		values = c.convertResults(s, values, from)
	} else {
		for i, e := range s.Results {
			values = append(values, c.value(e, c.resultType(i)))
		}
	}
	if variables {
		c.setResults(values)
		c.leave()
		return
	}
	for i, at := range places(types) {
		if types[i].file == memory {
			c.give(values[i], at)
		} else {
			c.move(operand{shape: types[i], at: at}, values[i])
		}
	}
	c.do(opRet, 0, 0, 0)
}

func (c *compiler) convertResults(n ast.Node, values []operand, from types.Type) []operand {
	tuple, ok := from.(*types.Tuple)
	if !ok || tuple.Len() != len(c.fn.results) {
		c.fail(n, "several values in a return statement")
	}
	for i := range values {
		values[i] = c.converted(n, values[i], c.subst(tuple.At(i).Type()), c.resultType(i), nil)
	}
	return values
}

func (c *compiler) resultType(i int) types.Type {
	return c.subst(c.signature.Results().At(i).Type())
}

// give puts a value in memory into the register of a result: its own memory when
// nobody else has it.
func (c *compiler) give(x operand, at uint16) {
	for _, v := range c.variables {
		if v.at == x.at && v.owned && x.offset == 0 && v.file == memory {
			x.owned = true
		}
	}
	c.own(x, &operand{shape: x.shape, at: at})
}

// leave returns the named results.
func (c *compiler) leave() {
	if c.iteration != nil {
		c.iteration.returns = true
		c.leaveBody(stateReturned)
		return
	}
	if c.defers {
		c.runDeferred()
	}
	if len(c.results) > 0 {
		var values []operand
		for _, v := range c.results {
			x := c.read(v, nil)
			if len(c.results) > 1 && x.file != memory {
				x = c.fresh(x)
			}
			values = append(values, x)
		}
		for i, at := range places(c.fn.results) {
			if c.fn.results[i].file == memory {
				c.give(values[i], at)
			} else {
				c.move(operand{shape: c.fn.results[i], at: at}, values[i])
			}
		}
	}
	c.do(opRet, 0, 0, 0)
}
