package compile

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"

	"github.com/quernlab/quern/interp/vm"
)

// channelType returns the type of a channel operand.
func (c *compiler) channelType(x ast.Expr) *types.Chan {
	t, ok := c.typeOf(x).Underlying().(*types.Chan)
	if !ok || c.vm.Registry() == nil {
		c.fail(x, "a channel of type %s", c.typeOf(x))
	}
	return t
}

// send compiles ch <- v.
func (c *compiler) send(s *ast.SendStmt) {
	t := c.channelType(s.Chan)
	ch := c.snapshot(c.expr(s.Chan, nil))
	x := c.exprTo(s.Value, c.subst(t.Elem()), nil)
	x.reg, x.offset = c.addressIfMemory(x), 0
	c.native("send "+ch.Type.String(), &vm.Native{Run: c.channelOps(ch, x, operand{}).Send})
}

// receive compiles <-ch. The second result reports whether the channel was open.
func (c *compiler) receive(e ast.Expr) (v, open operand, elem types.Type) {
	elem = c.subst(c.channelType(e).Elem())
	ch := c.snapshot(c.expr(e, nil))
	v, open = c.temporary(c.shape(e, elem)), c.temporary(boolShape)
	v.owned = v.File == vm.Memory
	c.native("receive "+ch.Type.String(), &vm.Native{Run: c.channelOps(ch, v, open).Receive})
	return v, open, elem
}

// channelOps makes the operations on ch with the value in x.
func (c *code) channelOps(ch, x, open operand) vm.ChannelOps {
	return vm.NewChannelOps(c.vm.Registry(), ch.register(), x.register(), open.register())
}

// channel compiles a range over a channel.
func (r *rangeLoop) channel() {
	c := r.c
	elem := c.subst(c.channelType(r.s.X).Elem())
	ch := c.snapshot(c.expr(r.s.X, nil))
	v, open := c.temporary(c.shape(r.s, elem)), c.temporary(boolShape)
	v.owned = v.File == vm.Memory
	next := c.channelOps(ch, v, open).Receive
	c.jump(r.target.next, vm.OpJmp, 0, 0, 0)
	begin := newLabel()
	c.bind(begin)
	r.body(func() { r.assign(r.s.Key, v, elem) })
	c.native("receive "+ch.Type.String(), &vm.Native{Run: next})
	c.jump(begin, vm.OpLoopIf, open.reg, 0, 0)
}

// selectStmt compiles a select statement. A native function selects the clause.
func (c *compiler) selectStmt(s *ast.SelectStmt, name string) {
	m := c.mark()
	defer c.release(m)
	t := &target{label: name, exit: newLabel()}
	cases := make([]vm.SelectCase, len(s.Body.List))
	bodies := make([]*label, len(s.Body.List))
	elements := make([]types.Type, len(s.Body.List))
	for i, cc := range s.Body.List {
		bodies[i] = newLabel()
		cases[i], elements[i] = c.selectCase(cc.(*ast.CommClause).Comm)
	}
	chosen, open := c.temporary(intShape), c.temporary(boolShape)
	if c.vm.Registry() == nil {
		c.fail(s, "a select statement")
	}
	c.native("select", vm.Select(c.vm.Registry(), cases, chosen.reg, open.reg))
	for i, b := range bodies {
		c.jump(b, vm.OpIfEqK, chosen.reg, 0, int32(i))
	}
	c.targets = append(c.targets, t)
	for i, cc := range s.Body.List {
		clause := cc.(*ast.CommClause)
		c.bind(bodies[i])
		m := c.mark()
		if a, ok := clause.Comm.(*ast.AssignStmt); ok {
			v := operand{Shape: cases[i].Value.Shape, reg: cases[i].Value.Reg, owned: cases[i].Value.File == vm.Memory}
			c.assignReceived(a, v, open, elements[i])
			c.hooksAfter(a)
		}
		c.list(clause.Body)
		c.release(m)
		c.jump(t.exit, vm.OpJmp, 0, 0, 0)
	}
	c.targets = c.targets[:len(c.targets)-1]
	c.bind(t.exit)
}

// selectCase evaluates the operands of a case. It also returns the element type of the channel.
func (c *compiler) selectCase(comm ast.Stmt) (x vm.SelectCase, elem types.Type) {
	var from ast.Expr
	switch comm := comm.(type) {
	case nil:
		return vm.SelectCase{Direction: reflect.SelectDefault}, nil
	case *ast.SendStmt:
		elem = c.subst(c.channelType(comm.Chan).Elem())
		x.Direction, x.Channel = reflect.SelectSend, c.snapshot(c.expr(comm.Chan, nil)).register()
		v := c.value(comm.Value, elem)
		x.Value = vm.Register{Shape: v.Shape, Reg: c.addressIfMemory(v)}
		x.Type = reflect.ChanOf(reflect.SendDir, x.Channel.Type.Elem())
		return x, elem
	case *ast.ExprStmt:
		from = comm.X
	case *ast.AssignStmt:
		from = comm.Rhs[0]
	}
	receive := ast.Unparen(from).(*ast.UnaryExpr)
	elem = c.subst(c.channelType(receive.X).Elem())
	x.Direction, x.Channel = reflect.SelectRecv, c.snapshot(c.expr(receive.X, nil)).register()
	x.Value = c.temporary(c.shape(receive, elem)).register()
	x.Type = reflect.ChanOf(reflect.RecvDir, x.Channel.Type.Elem())
	return x, elem
}

// assignReceived assigns what was received to the variables of a case.
func (c *compiler) assignReceived(a *ast.AssignStmt, v, open operand, elem types.Type) {
	values, from := []operand{v, open}, []types.Type{elem, types.Typ[types.Bool]}
	if len(a.Lhs) == 2 && a.Tok == token.ASSIGN && !isBlank(a.Lhs[0]) && !isBlank(a.Lhs[1]) {
		_, plain := ast.Unparen(a.Lhs[1]).(*ast.Ident)
		if !plain || c.hasCalls(a.Lhs[0]) {
			c.fail(a, "a case whose second variable may depend on the first")
		}
	}
	for i, e := range a.Lhs {
		if isBlank(e) {
			continue
		}
		if o := c.declaredVariable(e); a.Tok == token.DEFINE && o != nil {
			c.declare(o, values[i].Shape, &values[i])
			continue
		}
		c.set(c.locate(e), c.converted(a, values[i], from[i], c.typeOf(e), nil))
	}
}
