package vm

import (
	"go/ast"
	"go/token"
	"go/types"
	"math/rand/v2"
	"reflect"
	"slices"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
)

// selectCase is a case of a select statement with evaluated operands.
type selectCase struct {
	direction reflect.SelectDir
	channel   operand
	value     operand // the value to send, or the destination of the received one
	typ       reflect.Type
}

// A select statement first attempts its cases in random order. One that succeeds is one
// that compiled Go may choose as well, with the same probability. If none does, package
// reflect decides, which looks at all channels at the same time: one channel may have become
// ready after its attempt and another before.

// mostAttempted is the number of cases up to which a select statement attempts them.
const mostAttempted = 8

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
		if !plain || c.hasCalls(a.Lhs[0]) {
			c.fail(a, "a case whose second variable may depend on the first")
		}
	}
	for i, e := range a.Lhs {
		if isBlank(e) {
			continue
		}
		if o := c.declaredVariable(e); a.Tok == token.DEFINE && o != nil {
			c.declare(o, values[i].shape, &values[i])
			continue
		}
		c.set(c.locate(e), c.converted(a, values[i], from[i], c.typeOf(e), nil))
	}
}

// selector returns the operation that waits for one of the cases and stores its index in the register
// chosen.
func (c *code) selector(cases []selectCase, chosen, open uint16) func(*thread, unsafe.Pointer, unsafe.Pointer) {
	registry := c.vm.config.Registry
	if registry == nil {
		c.fail(nil, "a select statement")
	}
	var attempts []attempt
	var attempted []int // the numbers of their cases
	other := -1         // the number of the default case
	for i, x := range cases {
		switch x.direction {
		case reflect.SelectDefault:
			other = i
			continue
		case reflect.SelectSend:
			attempts = append(attempts, c.channelOps(x.channel, x.value, operand{}).trySend)
		default:
			attempts = append(attempts, c.channelOps(x.channel, x.value, operand{reg: open}).tryReceive)
		}
		attempted = append(attempted, i)
	}
	choose := registry.Choose
	if slices.ContainsFunc(cases, func(x selectCase) bool { return x.direction == reflect.SelectRecv && rt.Outside(x.channel.typ) }) {
		choose = registry.ChooseOutside
	}
	single := len(attempts) == 1 && other >= 0
	if len(attempts) > mostAttempted {
		attempts = nil
	}
	return func(_ *thread, nb, sb unsafe.Pointer) {
		if at := attemptOne(attempts, nb, sb); at >= 0 {
			*intAt(nb, chosen) = int64(attempted[at])
			return
		}
		if single {
			*intAt(nb, chosen) = int64(other)
			return
		}
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
		at, value, ok := choose(list)
		if cases[at].direction == reflect.SelectRecv {
			cases[at].value.put(nb, sb, cases[at].value.reg, value)
		}
		*intAt(nb, chosen), *intAt(nb, open) = int64(at), boolToInt(ok)
	}
}

// attemptOne makes the attempts in random order until one succeeds. It returns the number of
// that one, and -1 if none does.
func attemptOne(attempts []attempt, nb, sb unsafe.Pointer) int {
	switch len(attempts) {
	case 0:
		return -1
	case 1:
		if attempts[0](nb, sb) {
			return 0
		}
		return -1
	case 2:
		first := int(rand.Uint32() & 1)
		switch {
		case attempts[first](nb, sb):
			return first
		case attempts[1-first](nb, sb):
			return 1 - first
		}
		return -1
	}
	var order [mostAttempted]uint8
	for i := range attempts {
		order[i] = uint8(i)
	}
	for left := len(attempts); left > 0; left-- {
		k := rand.IntN(left)
		if i := order[k]; attempts[i](nb, sb) {
			return int(i)
		}
		order[k] = order[left-1]
	}
	return -1
}
