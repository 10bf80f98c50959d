package compile

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// target is what break and continue may refer to.
type target struct {
	label     *types.Label
	breaks    *program.Block
	continues *program.Block // nil for a switch
}

func (c *compiler) labeled(s *ast.LabeledStmt) {
	label, _ := c.info.Defs[s.Label].(*types.Label)
	switch inner := s.Stmt.(type) {
	case *ast.ForStmt:
		c.forLoop(inner, label)
	case *ast.RangeStmt:
		c.rangeLoop(inner, label)
	case *ast.SwitchStmt:
		c.switchStmt(inner, label)
	default: // only goto refers to it
		c.statement(inner, nil)
	}
}

// within compiles statements that may break to a target.
func (c *compiler) within(t *target, list *[]program.Stmt, f func()) {
	c.frame.targets = append(c.frame.targets, t)
	c.into(list, f)
	c.frame.targets = c.frame.targets[:len(c.frame.targets)-1]
}

func (c *compiler) branch(s *ast.BranchStmt) {
	if s.Tok == token.GOTO {
		c.fail(s, "a kernel cannot use goto")
	}
	if s.Tok == token.FALLTHROUGH {
		return // the switch has seen it
	}
	var label *types.Label
	if s.Label != nil {
		label, _ = c.info.Uses[s.Label].(*types.Label)
	}
	for i := len(c.frame.targets) - 1; i >= 0; i-- {
		t := c.frame.targets[i]
		switch {
		case label != nil && t.label != label:
			continue
		case s.Tok == token.BREAK:
			c.add(&program.Leave{Block: t.breaks})
			return
		case t.continues != nil:
			c.add(&program.Leave{Block: t.continues})
			return
		}
	}
	c.fail(s, "%s has no target", s.Tok)
}

// loop appends a loop, which ends when the condition is false. begin is what each iteration begins with, before the body, and post
// what follows it.
func (c *compiler) loop(label *types.Label, cond func() (program.Operand, bool), body, post func()) {
	out := &program.Block{}
	c.add(out)
	c.into(&out.Body, func() {
		l := &program.Loop{}
		c.add(l)
		c.into(&l.Body, func() {
			if p, ok := cond(); ok {
				c.when(p, func() {}, func() { c.add(&program.Leave{Block: out}) })
			}
			next := &program.Block{}
			c.add(next)
			c.within(&target{label: label, breaks: out, continues: next}, &next.Body, body)
			post()
		})
	})
}

func (c *compiler) forLoop(s *ast.ForStmt, label *types.Label) {
	if s.Init != nil {
		c.statement(s.Init, nil)
	}
	c.loop(label, func() (program.Operand, bool) {
		if s.Cond == nil {
			return program.Operand{}, false
		}
		defer c.here(s.Cond)()
		return c.operand(s.Cond), true
	}, func() { c.statements(s.Body.List) }, func() {
		if s.Post != nil {
			c.statement(s.Post, nil)
		}
	})
}

func (c *compiler) rangeLoop(s *ast.RangeStmt, label *types.Label) {
	n, of, indexType := c.rangeOver(s)
	body := func(i program.Operand) {
		for k, e := range []ast.Expr{s.Key, s.Value} {
			if id, ok := e.(*ast.Ident); e == nil || ok && id.Name == "_" {
				continue
			}
			x := value(c.temporary(i))
			if k == 1 {
				x = c.copyOf(c.elementOf(s, of, i, c.info.TypeOf(s.Value), false))
			}
			if s.Tok == token.DEFINE {
				id := e.(*ast.Ident)
				if k == 1 || !i.IsConst() { // else the loop is unrolled, and nothing assigns to the index
					x = c.variable(id, c.info.Defs[id].Type(), x)
				}
				c.frame.variables[c.info.Defs[id]] = x
				continue
			}
			c.assign(e, c.place(e), x)
		}
		c.statements(s.Body.List)
	}
	if label == nil && c.unrolls(s, n) {
		outer := c.unrolled
		c.unrolled *= int(n.Bits)
		defer func() { c.unrolled = outer }()
		out := &program.Block{}
		c.add(out)
		c.into(&out.Body, func() {
			for k := range n.Bits {
				next := &program.Block{}
				c.add(next)
				c.within(&target{breaks: out, continues: next}, &next.Body, func() { body(program.Operand{Type: indexType, Bits: k}) })
			}
		})
		return
	}
	c.countLoop(label, n, body)
}

// countLoop appends a loop over 0..n-1, of the type of n.
func (c *compiler) countLoop(label *types.Label, n program.Operand, body func(i program.Operand)) {
	i := c.newVar(n.Type)
	c.move(i, program.Operand{Type: n.Type})
	c.loop(label, func() (program.Operand, bool) {
		return c.op(program.Bool, program.Lt, n.Type, i, n), true
	}, func() { body(i) }, func() { c.move(i, c.binary(program.Add, i, program.Operand{Type: n.Type, Bits: 1})) })
}

// rangeOver returns the number of iterations, what has the elements, and the type of the index.
func (c *compiler) rangeOver(s *ast.RangeStmt) (n program.Operand, of value, index program.Type) {
	t := c.subst(c.info.TypeOf(s.X))
	if k, ok := c.scalarType(t); ok && !k.IsFloat() && k != program.Bool {
		if s.Key != nil {
			k, _ = c.scalarType(c.info.TypeOf(s.Key))
		}
		return c.temporary(c.convertConstant(s.X, k)), nil, k
	}
	switch t := t.Underlying().(type) {
	case *types.Slice:
		x := c.copySlice(c.sliceValue(s.X))
		return x.length, x, program.Int64
	case *types.Array:
		var x value
		if id, ok := s.Value.(*ast.Ident); s.Value != nil && (!ok || id.Name != "_") {
			a := c.value(s.X)
			if m := firstMemory(a); m != nil && m.Space == program.Shared {
				c.fail(s.X, "a range over the values of a shared array would copy the array for each thread: range over its slice, such as s[:]")
			}
			x = c.copyOf(a)
		}
		return program.Int(int(t.Len())), x, program.Int64
	}
	c.fail(s.X, "a range over %s is not supported in a kernel", types.TypeString(t, (*types.Package).Name))
	return n, nil, 0
}

func (c *compiler) switchStmt(s *ast.SwitchStmt, label *types.Label) {
	if s.Init != nil {
		c.statement(s.Init, nil)
	}
	var tag program.Operand
	if s.Tag != nil {
		tag = c.temporary(c.operand(s.Tag))
	}
	out := &program.Block{}
	c.add(out)
	clauses := make([]*ast.CaseClause, len(s.Body.List))
	for i, b := range s.Body.List {
		clauses[i] = b.(*ast.CaseClause)
	}
	c.within(&target{label: label, breaks: out}, &out.Body, func() { c.clauses(s, clauses, tag, out) })
}

// clauses tests the cases in order and stores which clause runs. The clauses follow, so that one can fall through to the next.
func (c *compiler) clauses(s *ast.SwitchStmt, clauses []*ast.CaseClause, tag program.Operand, out *program.Block) {
	chosen := c.newVar(program.Int64)
	other := len(clauses)
	for i, clause := range clauses {
		if clause.List == nil {
			other = i
		}
	}
	test := &program.Block{}
	c.add(test)
	c.into(&test.Body, func() {
		for i, clause := range clauses {
			for _, e := range clause.List {
				restore := c.here(e)
				cond := c.operandOfCase(s, e, tag)
				c.when(cond, func() {
					c.move(chosen, program.Int(i))
					c.add(&program.Leave{Block: test})
				}, nil)
				restore()
			}
		}
		c.move(chosen, program.Int(other))
	})
	for i, clause := range clauses {
		c.when(c.op(program.Bool, program.Eq, program.Int64, chosen, program.Int(i)), func() {
			c.statements(clause.Body)
			if n := len(clause.Body); n > 0 {
				if b, ok := clause.Body[n-1].(*ast.BranchStmt); ok && b.Tok == token.FALLTHROUGH {
					c.move(chosen, program.Int(i+1))
					return
				}
			}
			c.add(&program.Leave{Block: out})
		}, nil)
	}
}

// operandOfCase returns whether a case of a switch applies.
func (c *compiler) operandOfCase(s *ast.SwitchStmt, e ast.Expr, tag program.Operand) program.Operand {
	if s.Tag == nil {
		return c.operand(e)
	}
	return c.op(program.Bool, program.Eq, tag.Type, tag, c.convertConstant(e, tag.Type))
}
