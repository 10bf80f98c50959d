package vm

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// assign compiles assignments and definitions.
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

// defined returns the variable that e defines; nil when it is assigned to.
func (c *compiler) defined(e ast.Expr) *types.Var {
	id, ok := e.(*ast.Ident)
	if !ok || id.Name == "_" {
		return nil
	}
	v, _ := c.source.Info.Defs[id].(*types.Var)
	if v != nil && c.source.Global(v) != "" {
		return nil
	}
	return v
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// define compiles x, y := a, b and var x, y = a, b. The variables are declared
// below the temporaries that their values need.
func (c *compiler) define(n ast.Node, lhs, rhs []ast.Expr) {
	if len(lhs) == 1 && len(rhs) == 1 {
		if v := c.defined(lhs[0]); v != nil {
			c.defineOne(v, rhs[0])
			return
		}
	}
	// Registers for the variables first, so that they stay when the temporaries
	// go.
	variables := make([]*types.Var, len(lhs))
	registers := make([]uint16, len(lhs))
	for i, e := range lhs {
		if v := c.defined(e); v != nil {
			variables[i] = v
			s := c.shape(e, c.subst(v.Type()))
			if _, done := c.hoisted[v]; !done {
				registers[i] = c.cell(v, s)
			}
		}
	}
	m := c.mark()
	values, from := c.values(n, lhs, rhs)
	for i, e := range lhs {
		switch v := variables[i]; {
		case v != nil:
			t := c.subst(v.Type())
			x := c.converted(n, values[i], from[i], t, nil)
			c.declareAt(v, c.shape(e, t), registers[i], x)
		case !isBlank(e):
			p := c.locate(e)
			c.set(p, c.converted(n, values[i], from[i], c.typeOf(e), nil))
		}
	}
	c.release(m)
}

// cell reserves the register of a variable.
func (c *compiler) cell(v *types.Var, s shape) uint16 {
	if s.file == memory || c.facts.shared[v] {
		return c.referenceRegister()
	}
	return c.register(s)
}

// declareAt makes a variable in a register that is reserved for it.
func (c *compiler) declareAt(o *types.Var, s shape, at uint16, x operand) {
	v := &variable{shape: s, at: at, boxed: s.file != memory && c.facts.shared[o]}
	switch {
	case s.file == memory:
		v.owned = !c.facts.shared[o]
		if hoisted, ok := c.hoisted[o]; ok {
			v.at = hoisted
			if x.owned && x.offset == 0 {
				c.do(opMovP, v.at, x.at, 0)
			} else {
				c.emit(opCopyM, v.at, c.address(x), 0, c.memoryType(s.typ), 0)
			}
		} else {
			c.own(x, &operand{shape: s, at: at})
		}
	case v.boxed:
		c.emit(opNew, at, 0, 0, c.memoryType(s.typ), 0)
		c.store(at, 0, x)
	default:
		c.move(operand{shape: s, at: at}, x)
	}
	c.variables[o] = v
}

// defineOne compiles x := e; a scalar is computed where it stays.
func (c *compiler) defineOne(v *types.Var, e ast.Expr) {
	t := c.subst(v.Type())
	s := c.shape(e, t)
	if at, ok := c.hoisted[v]; ok {
		m := c.mark()
		c.declareAt(v, s, at, c.exprTo(e, t, nil))
		c.release(m)
		return
	}
	at := c.cell(v, s)
	m := c.mark()
	if s.file == memory || c.facts.shared[v] {
		c.declareAt(v, s, at, c.exprTo(e, t, nil))
	} else {
		c.exprTo(e, t, &operand{shape: s, at: at})
		c.variables[v] = &variable{shape: s, at: at}
	}
	c.release(m)
}

// values evaluates the right side of an assignment to several places, and gives
// the types of the values. They do not change when a variable does.
func (c *compiler) values(n ast.Node, lhs, rhs []ast.Expr) (values []operand, from []types.Type) {
	if len(rhs) == len(lhs) {
		for i, e := range rhs {
			t := c.typeOf(e)
			if !isBlank(lhs[i]) {
				// nil, and constants, need the type of the target.
				t = c.typeOf(lhs[i])
			} else if c.isNil(e) {
				c.fail(n, "nil without a type")
			}
			values = append(values, c.value(e, t))
			from = append(from, t)
		}
		return values, from
	}
	return c.tuple(n, rhs[0])
}

// tuple evaluates an expression with several values.
func (c *compiler) tuple(n ast.Node, e ast.Expr) (values []operand, from []types.Type) {
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		tuple, ok := c.source.Info.Types[e].Type.(*types.Tuple)
		if !ok {
			c.fail(n, "several values")
		}
		for v := range tuple.Variables() {
			from = append(from, c.subst(v.Type()))
		}
		return c.compileCall(x), from
	case *ast.IndexExpr:
		p := c.elementPlace(x)
		if p.kind != inMap {
			c.fail(n, "several values")
		}
		ok := c.temporary(boolShape)
		v := c.mapGet(p, &ok, nil)
		return []operand{v, ok}, []types.Type{c.elementType(x), types.Typ[types.Bool]}
	case *ast.UnaryExpr: // a receive
		v, open, t := c.receive(x.X)
		return []operand{v, open}, []types.Type{t, types.Typ[types.Bool]}
	case *ast.TypeAssertExpr:
		v, ok, t := c.assertion(x, true)
		return []operand{v, ok}, []types.Type{t, types.Typ[types.Bool]}
	}
	c.fail(n, "several values of %T", e)
	return nil, nil
}

func (c *compiler) elementType(x *ast.IndexExpr) types.Type {
	return c.subst(c.typeOf(x.X).Underlying().(*types.Map).Elem())
}

// assignAll compiles assignments with =.
func (c *compiler) assignAll(n ast.Node, lhs, rhs []ast.Expr) {
	if len(lhs) == 1 && len(rhs) == 1 {
		c.assignOne(n, lhs[0], rhs[0])
		return
	}
	if len(lhs) == 2 && len(rhs) == 2 && c.swap(lhs, rhs) {
		return
	}
	// Go evaluates the operands of the left side before the right side, and
	// checks them when it assigns.
	for _, e := range lhs {
		if !c.lazy(e) && (c.anyCalls(rhs) || c.calls(e)) {
			c.fail(n, "a call in an assignment to a part of an element")
		}
	}
	places := make([]place, len(lhs))
	for i, e := range lhs {
		places[i] = c.steady(c.locate(e))
	}
	values, from := c.values(n, lhs, rhs)
	for i, e := range lhs {
		if places[i].kind != nowhere {
			c.set(places[i], c.converted(n, values[i], from[i], c.typeOf(e), nil))
		}
	}
}

// swap compiles s[i], s[j] = s[j], s[i]: values in memory need no copies then, and compiled
// Go, too, reads s[i] first. It reports whether the assignment is one of these.
func (c *compiler) swap(lhs, rhs []ast.Expr) bool {
	var elements [2]*ast.IndexExpr
	for i, e := range lhs {
		x, ok := ast.Unparen(e).(*ast.IndexExpr)
		if !ok || !c.simple(x.X) || !c.simple(x.Index) || !c.sameExpr(x, rhs[1-i]) {
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
	p, q := c.elementPlace(elements[0]), c.elementPlace(elements[1])
	if p.file == memory {
		c.emit(opSwapM, c.elementAddress(p), c.elementAddress(q), 0, c.memoryType(p.typ), 0)
		return true
	}
	x, y := c.get(p, nil), c.get(q, nil)
	c.set(p, y)
	c.set(q, x)
	return true
}

// simple reports whether evaluating e does nothing but read variables.
func (c *compiler) simple(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident, *ast.BasicLit:
		return true
	case *ast.BinaryExpr:
		return (e.Op == token.ADD || e.Op == token.SUB) && c.simple(e.X) && c.simple(e.Y)
	}
	return false
}

// sameExpr reports whether two expressions, one of which is simple or an element of
// something simple, are the same.
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

// steady returns a place whose operands do not change with variables.
func (c *compiler) steady(p place) place {
	steady := func(at uint16, s shape) uint16 {
		x := operand{shape: s, at: at}
		if !c.isVariable(x) {
			return at
		}
		t := c.temporary(s)
		c.move(t, x)
		return t.at
	}
	switch p.kind {
	case inElement:
		p.at = steady(p.at, sliceShape)
		p.index = steady(p.index, intShape)
	case inMap:
		p.at = steady(p.at, pointerShape)
		p.key = c.fresh(p.key)
	case inMemory:
		if !p.sure {
			p.at = steady(p.at, pointerShape)
		}
	}
	return p
}

// lazy reports whether finding the place of e panics only where its operands do:
// the index or the pointer itself is checked by the assignment.
func (c *compiler) lazy(e ast.Expr) bool {
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

func (c *compiler) anyCalls(list []ast.Expr) bool {
	for _, e := range list {
		if c.calls(e) {
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
	if c.calls(rhs) && c.calls(lhs) && !c.lazy(lhs) {
		c.fail(n, "calls on both sides of an assignment")
	}
	if (c.calls(rhs) || c.mayPanic(rhs) && !c.calls(lhs)) && !c.lazy(lhs) {
		x := c.exprTo(rhs, t, nil)
		c.set(c.locate(lhs), x)
		return
	}
	p := c.locate(lhs)
	if p.kind == inRegister {
		c.exprTo(rhs, t, &operand{shape: p.shape, at: p.at})
		return
	}
	x := c.exprTo(rhs, t, nil)
	c.set(p, x)
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
	if c.calls(rhs) && (c.calls(lhs) || !c.lazy(lhs)) {
		c.fail(s, "a call in an assignment with an operator")
	}
	p := c.locate(lhs)
	if p.kind == inElement && p.file == memory || p.kind == nowhere {
		c.fail(s, "this assignment")
	}
	var want *operand
	if p.kind == inRegister {
		want = &operand{shape: p.shape, at: p.at}
	}
	c.checkStored(p)
	x := c.get(p, nil)
	var v operand
	if o == token.SHL || o == token.SHR {
		v = c.shift(o, p.shape, x, rhs, want)
	} else {
		v = c.arithmetic(s, o, p.shape, x, rhs, want)
	}
	if want == nil {
		c.set(p, v)
	}
}

// increment compiles x++ and x--.
func (c *compiler) increment(e ast.Expr, o token.Token) {
	p := c.locate(e)
	c.checkStored(p)
	x := c.get(p, nil)
	var want *operand
	if p.kind == inRegister {
		want = &operand{shape: p.shape, at: p.at}
	}
	k := int32(1)
	if o == token.SUB {
		k = -1
	}
	var v operand
	if isComplex(p.shape) {
		one := c.temporary(p.shape)
		c.constantComplex(one, constantOne)
		v = c.destination(p.shape, want)
		c.do(opNamed(arithmetics[o]+p.width), v.at, x.at, one.at)
	} else if suffix(p.typ.Kind(), "Add") == "I" {
		v = c.withConstant(opAddK, p.shape, x, k, want)
	} else {
		one := c.temporary(p.shape)
		bits, _ := bitsOf(constantOne, p.typ.Kind())
		c.constantBits(one.at, bits)
		v = c.destination(p.shape, want)
		c.do(opNamed(arithmetics[o]+suffix(p.typ.Kind(), arithmetics[o])), v.at, x.at, one.at)
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
