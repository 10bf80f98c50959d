package vm

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"unsafe"
)

// selectCase is a case of a select statement with evaluated operands.
type selectCase struct {
	direction reflect.SelectDir
	channel   operand
	value     operand // the value to send, or the destination of the received one
	typ       reflect.Type
}

// selectStmt compiles a select statement. A native function selects the clause.
func (c *compiler) selectStmt(s *ast.SelectStmt, name string) {
	m := c.mark()
	defer c.release(m)
	t := &target{label: name, exit: newLabel()}
	cases := make([]selectCase, len(s.Body.List))
	bodies := make([]*label, len(s.Body.List))
	elements := make([]types.Type, len(s.Body.List))
	for i, cc := range s.Body.List {
		bodies[i] = newLabel()
		cases[i], elements[i] = c.selectCase(cc.(*ast.CommClause).Comm)
	}
	chosen, open := c.temporary(intShape), c.temporary(boolShape)
	c.native("select", &native{run: c.selector(cases, chosen.reg, open.reg)})
	for i, b := range bodies {
		c.jump(b, opIfEqK, chosen.reg, 0, int32(i))
	}
	c.targets = append(c.targets, t)
	for i, cc := range s.Body.List {
		clause := cc.(*ast.CommClause)
		c.bind(bodies[i])
		m := c.mark()
		if a, ok := clause.Comm.(*ast.AssignStmt); ok {
			c.assignReceived(a, cases[i].value, open, elements[i])
			c.hooksAfter(a)
		}
		c.list(clause.Body)
		c.release(m)
		c.jump(t.exit, opJmp, 0, 0, 0)
	}
	c.targets = c.targets[:len(c.targets)-1]
	c.bind(t.exit)
}

// selectCase evaluates the operands of a case. It also returns the element type of the channel.
func (c *compiler) selectCase(comm ast.Stmt) (x selectCase, elem types.Type) {
	var from ast.Expr
	switch comm := comm.(type) {
	case nil:
		return selectCase{direction: reflect.SelectDefault}, nil
	case *ast.SendStmt:
		elem = c.subst(c.channelType(comm.Chan).Elem())
		x.direction, x.channel = reflect.SelectSend, c.snapshot(c.expr(comm.Chan, nil))
		x.value = c.value(comm.Value, elem)
		x.value.reg, x.value.offset = c.addressIfMemory(x.value), 0
		x.typ = reflect.ChanOf(reflect.SendDir, x.channel.typ.Elem())
		return x, elem
	case *ast.ExprStmt:
		from = comm.X
	case *ast.AssignStmt:
		from = comm.Rhs[0]
	}
	receive := ast.Unparen(from).(*ast.UnaryExpr)
	elem = c.subst(c.channelType(receive.X).Elem())
	x.direction, x.channel = reflect.SelectRecv, c.snapshot(c.expr(receive.X, nil))
	x.value = c.temporary(c.shape(receive, elem))
	x.value.owned = x.value.file == memory
	x.typ = reflect.ChanOf(reflect.RecvDir, x.channel.typ.Elem())
	return x, elem
}

// assignReceived assigns what was received to the variables of a case.
func (c *compiler) assignReceived(a *ast.AssignStmt, v, open operand, elem types.Type) {
	values, from := []operand{v, open}, []types.Type{elem, types.Typ[types.Bool]}
	if len(a.Lhs) == 2 && a.Tok == token.ASSIGN && !isBlank(a.Lhs[0]) && !isBlank(a.Lhs[1]) {
		_, plain := ast.Unparen(a.Lhs[1]).(*ast.Ident)
		if !plain || c.calls(a.Lhs[0]) {
			c.fail(a, "a case whose second variable may depend on the first")
		}
	}
	for i, e := range a.Lhs {
		if isBlank(e) {
			continue
		}
		if o := c.defined(e); a.Tok == token.DEFINE && o != nil {
			c.declare(o, values[i].shape, &values[i])
			continue
		}
		c.set(c.locate(e), c.converted(a, values[i], from[i], c.typeOf(e), nil))
	}
}

// selector returns the operation that waits for one of the cases and stores its index in the register
// chosen.
func (c *compiler) selector(cases []selectCase, chosen, open uint16) func(*thread, unsafe.Pointer, unsafe.Pointer) {
	registry := c.vm.config.Registry
	if registry == nil {
		c.fail(nil, "a select statement")
	}
	return func(_ *thread, nb, sb unsafe.Pointer) {
		list := make([]reflect.SelectCase, len(cases), len(cases)+1)
		for i, x := range cases {
			list[i].Dir = x.direction
			if x.direction == reflect.SelectDefault {
				continue
			}
			p := *pointerAt(sb, x.channel.reg)
			if p == nil {
				continue // reflect.Select needs a zero Value for a nil channel
			}
			list[i].Chan = reflect.NewAt(x.typ, unsafe.Pointer(&p)).Elem()
			if x.direction == reflect.SelectSend {
				list[i].Send = x.value.get(nb, sb, x.value.reg)
			}
		}
		at, value, ok := registry.Choose(list)
		if cases[at].direction == reflect.SelectRecv {
			cases[at].value.put(nb, sb, cases[at].value.reg, value)
		}
		*intAt(nb, chosen), *intAt(nb, open) = int64(at), boolToInt(ok)
	}
}
