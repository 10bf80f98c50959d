package compile

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"github.com/quernlab/quern/interp/vm"
)

// assign compiles assignments and short variable declarations.
func (c *compiler) assign(s *ast.AssignStmt) {
	switch s.Tok {
	case token.DEFINE:
		c.define(s, s.Lhs, s.Rhs)
	case token.ASSIGN:
		m := c.mark()
		c.assignAll(s, s.Lhs, s.Rhs)
		c.release(m)
	default:
		m := c.mark()
		c.update(s)
		c.release(m)
	}
}

// assignAll compiles assignments with =.
func (c *compiler) assignAll(n ast.Node, lhs, rhs []ast.Expr) {
	if len(lhs) == 1 && len(rhs) == 1 {
		c.assignOne(n, lhs[0], rhs[0])
		return
	}
	if len(lhs) == len(rhs) && c.assignVariables(lhs, rhs) || len(lhs) == 2 && len(rhs) == 2 && c.swap(lhs, rhs) {
		return
	}
	// Go evaluates the operands of the left side before the right side, but checks them when it assigns.
	for _, e := range lhs {
		if !c.checkedByStore(e) && (c.anyHasCalls(rhs) || c.hasCalls(e)) {
			c.fail(n, "a call in an assignment to a field or element of an element")
		}
	}
	locations := make([]location, len(lhs))
	for i, e := range lhs {
		locations[i] = c.snapshotLocation(c.locate(e))
	}
	values, from := c.values(n, lhs, rhs, nil)
	for i, e := range lhs {
		if locations[i].kind != blank {
			c.set(locations[i], c.converted(n, values[i], from[i], c.typeOf(e), nil))
		}
	}
}

// assignVariables compiles an assignment to different variables in registers, and reports whether it is one. A value goes to its variable
// at once, and not to a temporary, if the values behind it do not read the variable and cannot panic.
func (c *compiler) assignVariables(lhs, rhs []ast.Expr) bool {
	variables := make([]*variable, len(lhs))
	for i, e := range lhs {
		id, ok := ast.Unparen(e).(*ast.Ident)
		if !ok {
			return false
		}
		v := c.variables[c.source.Info.ObjectOf(id)]
		if v == nil || v.boxed || v.File == vm.Memory || slices.Contains(variables, v) {
			return false
		}
		variables[i] = v
	}
	values := make([]operand, len(lhs))
	for i, e := range rhs {
		v, t := variables[i], c.typeOf(lhs[i])
		values[i] = operand{Shape: v.Shape, reg: v.reg}
		if !slices.ContainsFunc(rhs[i+1:], func(other ast.Expr) bool { return !c.isUnobserved(other) || c.mentions(other, lhs[i]) }) {
			c.exprTo(e, t, &values[i])
		} else {
			values[i] = c.copyOf(e, t, v.Shape)
		}
	}
	for i, v := range variables {
		c.move(operand{Shape: v.Shape, reg: v.reg}, values[i])
	}
	return true
}

// mentions reports whether e contains the name of the variable.
func (c *compiler) mentions(e, variable ast.Expr) (found bool) {
	o := c.source.Info.ObjectOf(ast.Unparen(variable).(*ast.Ident))
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && c.source.Info.ObjectOf(id) == o
		return !found
	})
	return found
}

// swap compiles s[i], s[j] = s[j], s[i] without copies of values in memory. As in compiled Go, s[i] is read
// first. It reports whether the assignment has this form.
func (c *compiler) swap(lhs, rhs []ast.Expr) bool {
	var elements [2]*ast.IndexExpr
	for i, e := range lhs {
		x, ok := ast.Unparen(e).(*ast.IndexExpr)
		if !ok || !c.isSimple(x.X) || !c.isSimple(x.Index) || !c.sameExpr(x, rhs[1-i]) {
			return false
		}
		if _, ok := c.typeOf(x.X).Underlying().(*types.Slice); !ok {
			return false
		}
		elements[i] = x
	}
	if !c.sameExpr(elements[0].X, elements[1].X) {
		return false
	}
	p, q := c.elementLocation(elements[0]), c.elementLocation(elements[1])
	if p.File == vm.Memory {
		c.emit(vm.OpSwapM, c.elementAddress(p), c.elementAddress(q), 0, c.memoryType(p.Type), 0)
		return true
	}
	x, y := c.get(p, nil), c.get(q, nil)
	c.set(p, y)
	c.set(q, x)
	return true
}

// isSimple reports whether evaluating e only reads variables.
func (c *code) isSimple(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident, *ast.BasicLit:
		return true
	case *ast.BinaryExpr:
		return (e.Op == token.ADD || e.Op == token.SUB) && c.isSimple(e.X) && c.isSimple(e.Y)
	}
	return false
}

// sameExpr reports whether two expressions are the same. One of them is simple, or an element with simple
// operands.
func (c *compiler) sameExpr(x, y ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		y, ok := ast.Unparen(y).(*ast.Ident)
		return ok && c.source.Info.ObjectOf(x) == c.source.Info.ObjectOf(y)
	case *ast.BasicLit:
		y, ok := ast.Unparen(y).(*ast.BasicLit)
		return ok && x.Value == y.Value
	case *ast.BinaryExpr:
		y, ok := ast.Unparen(y).(*ast.BinaryExpr)
		return ok && x.Op == y.Op && c.sameExpr(x.X, y.X) && c.sameExpr(x.Y, y.Y)
	case *ast.IndexExpr:
		y, ok := ast.Unparen(y).(*ast.IndexExpr)
		return ok && c.sameExpr(x.X, y.X) && c.sameExpr(x.Index, y.Index)
	}
	return false
}

// snapshotLocation returns a location that does not change when variables are assigned to.
func (c *compiler) snapshotLocation(p location) location {
	snapshot := func(at uint16, s vm.Shape) uint16 {
		x := operand{Shape: s, reg: at}
		if !c.isVariable(x) {
			return at
		}
		t := c.temporary(s)
		c.move(t, x)
		return t.reg
	}
	switch p.kind {
	case inSliceElement:
		p.reg = snapshot(p.reg, sliceShape)
		p.index = snapshot(p.index, intShape)
	case inMapEntry:
		p.reg = snapshot(p.reg, pointerShape)
		p.key = c.snapshot(p.key)
	case inMemory:
		if !p.nonNil {
			p.reg = snapshot(p.reg, pointerShape)
		}
	}
	return p
}

// checkedByStore reports whether all that can panic about the location e, the nil check or the bounds
// check, is checked by the store itself.
func (c *compiler) checkedByStore(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident, *ast.StarExpr:
		return true
	case *ast.IndexExpr:
		switch c.typeOf(e.X).Underlying().(type) {
		case *types.Slice, *types.Map:
			return true
		}
	case *ast.SelectorExpr:
		sel := c.source.Info.Selections[e]
		if sel == nil {
			return true
		}
		if len(sel.Index()) > 1 {
			return false
		}
		if _, ok := c.typeOf(e.X).Underlying().(*types.Pointer); ok {
			return true
		}
		_, ok := ast.Unparen(e.X).(*ast.Ident)
		return ok
	}
	return false
}

func (c *compiler) anyHasCalls(list []ast.Expr) bool {
	for _, e := range list {
		if c.hasCalls(e) {
			return true
		}
	}
	return false
}

// assignOne compiles x = e.
func (c *compiler) assignOne(n ast.Node, lhs, rhs ast.Expr) {
	if isBlank(lhs) {
		if !c.isNil(rhs) {
			c.effect(rhs)
		}
		return
	}
	t := c.typeOf(lhs)
	if c.hasCalls(rhs) && c.hasCalls(lhs) && !c.checkedByStore(lhs) {
		c.fail(n, "calls on both sides of an assignment")
	}
	if (c.hasCalls(rhs) || c.mayPanic(rhs) && !c.hasCalls(lhs)) && !c.checkedByStore(lhs) || c.acts(rhs) && c.readsVariables(lhs) {
		x := c.exprTo(rhs, t, nil)
		c.set(c.locate(lhs), x)
		return
	}
	p := c.locate(lhs)
	if p.kind == inRegister {
		c.exprTo(rhs, t, &operand{Shape: p.Shape, reg: p.reg})
		return
	}
	x := c.exprTo(rhs, t, nil)
	c.set(p, x)
}

// acts reports whether the evaluation of e may change variables: it has calls, or receives what was sent after a change.
func (c *compiler) acts(e ast.Expr) bool {
	found := c.hasCalls(e)
	ast.Inspect(e, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		x, ok := n.(*ast.UnaryExpr)
		found = found || ok && x.Op == token.ARROW
		return !found
	})
	return found
}

// readsVariables reports whether the location e has operands that the right side of an assignment may change: compiled Go
// reads them after the value. The operands of a map element are read before it.
func (c *compiler) readsVariables(e ast.Expr) bool {
	e = ast.Unparen(e)
	if x, ok := e.(*ast.IndexExpr); ok {
		if _, isMap := c.typeOf(x.X).Underlying().(*types.Map); isMap {
			return false
		}
	}
	_, isVariable := e.(*ast.Ident)
	return !isVariable && !c.hasCalls(e)
}

// mayPanic reports whether the evaluation of e can panic, calls in it aside.
func (c *compiler) mayPanic(e ast.Expr) (may bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.IndexExpr, *ast.SliceExpr, *ast.StarExpr, *ast.TypeAssertExpr:
			may = true
		case *ast.SelectorExpr:
			sel := c.source.Info.Selections[n]
			may = may || sel != nil && sel.Indirect()
		case *ast.BinaryExpr:
			may = may || (n.Op == token.QUO || n.Op == token.REM) && c.source.Info.Types[n.Y].Value == nil
		}
		return !may
	})
	return may
}

// update compiles x op= e.
func (c *compiler) update(s *ast.AssignStmt) {
	o := operators[s.Tok]
	lhs, rhs := s.Lhs[0], s.Rhs[0]
	if c.hasCalls(rhs) && (c.hasCalls(lhs) || !c.checkedByStore(lhs)) {
		if c.hasCalls(lhs) {
			c.fail(s, "a call in an assignment with an operator")
		}
		// Compiled Go makes the call before it looks at the other operand.
		v := types.NewVar(rhs.Pos(), nil, "operand", c.typeOf(rhs))
		x := c.snapshot(c.expr(rhs, nil))
		c.variables[v] = &variable{Shape: x.Shape, reg: x.reg}
		id := &ast.Ident{NamePos: rhs.Pos(), Name: v.Name()}
		c.source.Info.Uses[id] = v
		defer func() {
			delete(c.variables, v)
			delete(c.source.Info.Uses, id)
		}()
		rhs = id
	}
	p := c.locate(lhs)
	if p.kind == inSliceElement && p.File == vm.Memory || p.kind == blank {
		c.fail(s, "an assignment operator on a struct or array")
	}
	var want *operand
	if p.kind == inRegister {
		want = &operand{Shape: p.Shape, reg: p.reg}
	}
	c.checkStorable(p)
	if o == token.ADD && !c.acts(rhs) && c.increase(p, func() operand { return c.exprTo(rhs, c.typeOf(lhs), nil) }) {
		return
	}
	x := c.get(p, nil)
	var v operand
	if o == token.SHL || o == token.SHR {
		v = c.shift(o, p.Shape, x, rhs, want)
	} else {
		v = c.arithmetic(s, o, p.Shape, x, rhs, want)
	}
	if want == nil {
		c.set(p, v)
	}
}

// increment compiles x++ and x--.
func (c *compiler) increment(e ast.Expr, o token.Token) {
	p := c.locate(e)
	c.checkStorable(p)
	k := int32(1)
	if o == token.SUB {
		k = -1
	}
	if c.increase(p, func() operand {
		n := c.temporary(p.Shape)
		c.emit(vm.OpConst, n.reg, 0, 0, k, 0)
		return n
	}) {
		return
	}
	x := c.get(p, nil)
	var want *operand
	if p.kind == inRegister {
		want = &operand{Shape: p.Shape, reg: p.reg}
	}
	var v operand
	if vm.IsComplex(p.Shape) {
		one := c.temporary(p.Shape)
		c.constantComplex(one, constantOne)
		v = c.destination(p.Shape, want)
		c.do(opNamed(arithmeticNames[o]+p.Width), v.reg, x.reg, one.reg)
	} else if suffix(p.Type.Kind(), "Add") == "I" {
		v = c.withConstant(vm.OpAddK, p.Shape, x, k, want)
	} else {
		one := c.temporary(p.Shape)
		bits, _ := bitsOf(constantOne, p.Type.Kind())
		c.constantBits(one.reg, bits)
		v = c.destination(p.Shape, want)
		c.do(opNamed(arithmeticNames[o]+suffix(p.Type.Kind(), arithmeticNames[o])), v.reg, x.reg, one.reg)
	}
	if want == nil {
		c.set(p, v)
	}
}

var constantOne = constant.MakeInt64(1)

var operators = map[token.Token]token.Token{
	token.ADD_ASSIGN: token.ADD, token.SUB_ASSIGN: token.SUB, token.MUL_ASSIGN: token.MUL, token.QUO_ASSIGN: token.QUO,
	token.REM_ASSIGN: token.REM, token.AND_ASSIGN: token.AND, token.OR_ASSIGN: token.OR, token.XOR_ASSIGN: token.XOR,
	token.SHL_ASSIGN: token.SHL, token.SHR_ASSIGN: token.SHR, token.AND_NOT_ASSIGN: token.AND_NOT,
}
