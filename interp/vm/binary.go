package vm

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"unsafe"
)

// binary compiles the operators with two operands. The left one may stay in the
// register of a variable: what others can change is not in a register.
func (c *compiler) binary(e *ast.BinaryExpr, want *operand) operand {
	switch e.Op {
	case token.LAND, token.LOR:
		// Not into want, which an operand may be.
		t := c.temporary(c.shapeOf(e))
		end := newLabel()
		c.move(t, c.expr(e.X, &t))
		if e.Op == token.LAND {
			c.jump(end, opIfNot, t.at, 0, 0)
		} else {
			c.jump(end, opIf, t.at, 0, 0)
		}
		c.move(t, c.expr(e.Y, &t))
		c.place(end)
		return c.settle(t, want)
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return c.comparison(e, want)
	case token.SHL, token.SHR:
		return c.shift(e.Op, c.shapeOf(e), c.expr(e.X, nil), e.Y, want)
	}
	s := c.shapeOf(e)
	x := c.expr(e.X, nil)
	return c.arithmetic(e, e.Op, s, x, e.Y, want)
}

// calls reports whether evaluating e may run code that has effects.
func (c *compiler) calls(e ast.Node) (found bool) {
	if e == nil {
		return false
	}
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if tv := c.source.Info.Types[n.Fun]; !tv.IsType() && !tv.IsBuiltin() {
				found = true
			}
		}
		return !found
	})
	return found
}

var arithmetics = map[token.Token]string{
	token.ADD: "Add", token.SUB: "Sub", token.MUL: "Mul", token.QUO: "Div", token.REM: "Rem",
	token.AND: "And", token.OR: "Or", token.XOR: "Xor", token.AND_NOT: "AndNot",
}

// arithmetic compiles x op y for values of shape s.
func (c *compiler) arithmetic(n ast.Node, o token.Token, s shape, x operand, right ast.Expr, want *operand) operand {
	name := arithmetics[o]
	if name == "" {
		c.fail(n, "the operator %s", o)
	}
	if s.width == "Str" {
		y := c.expr(right, nil)
		dst := c.destination(s, want)
		c.do(opCat, dst.at, x.at, y.at)
		return dst
	}
	if isComplex(s) {
		y := c.expr(right, nil)
		dst := c.destination(s, want)
		c.do(opNamed(name+s.width), dst.at, x.at, y.at)
		return dst
	}
	if s.file != scalar {
		c.fail(n, "the operator %s for %s", o, s.typ)
	}
	kind := s.typ.Kind()
	if kind != reflect.Float64 && kind != reflect.Float32 {
		if k, ok := c.small(right); ok {
			signed := isSigned(kind)
			switch {
			case o == token.ADD:
				return c.withConstant(opAddK, s, x, k, want)
			case o == token.SUB && k != -1<<31:
				return c.withConstant(opAddK, s, x, -k, want)
			case o == token.MUL:
				return c.withConstant(opMulK, s, x, k, want)
			case o == token.AND && (signed || k >= 0):
				return c.withConstant(opAndK, s, x, k, want)
			case o == token.QUO && k != 0 && signed:
				return c.withConstant(opDivK, s, x, k, want)
			case o == token.REM && k != 0 && signed:
				return c.withConstant(opRemK, s, x, k, want)
			}
		}
	}
	y := c.expr(right, nil)
	dst := c.destination(s, want)
	c.do(opNamed(name+suffix(kind, name)), dst.at, x.at, y.at)
	c.wrap(dst)
	return dst
}

func (c *compiler) withConstant(o op, s shape, x operand, k int32, want *operand) operand {
	dst := c.destination(s, want)
	c.emit(o, dst.at, x.at, 0, k, 0)
	c.wrap(dst)
	return dst
}

func isSigned(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Int64 }

// suffix returns that of the operation called name for values of a kind.
func suffix(kind reflect.Kind, name string) string {
	switch {
	case kind == reflect.Float64:
		return "F"
	case kind == reflect.Float32:
		return "G"
	case !isSigned(kind) && (name == "Div" || name == "Rem" || name == "Lt" || name == "Le"):
		return "U"
	}
	return "I"
}

// shift compiles x << count and x >> count.
func (c *compiler) shift(o token.Token, s shape, x operand, count ast.Expr, want *operand) operand {
	unsigned := !isSigned(s.typ.Kind())
	if tv := c.source.Info.Types[count]; tv.Value != nil {
		k, ok := bitsOf(tv.Value, reflect.Uint64)
		if !ok || k < 0 || k > 64 {
			k = 64
		}
		code := opShlK
		if o == token.SHR {
			code = opShrK
			if unsigned {
				code = opShrUK
			}
		}
		return c.withConstant(code, s, x, int32(k), want)
	}
	y := c.expr(count, nil)
	if isSigned(y.typ.Kind()) {
		c.do(opCount, y.at, 0, 0)
	}
	code := opShlI
	if o == token.SHR {
		code = opShrI
		if unsigned {
			code = opShrU
		}
	}
	dst := c.destination(s, want)
	c.do(code, dst.at, x.at, y.at)
	c.wrap(dst)
	return dst
}

var relational = map[token.Token]string{token.EQL: "Eq", token.NEQ: "Ne", token.LSS: "Lt", token.LEQ: "Le", token.GTR: "Lt", token.GEQ: "Le"}

// comparison compiles a comparison to a bool.
func (c *compiler) comparison(e *ast.BinaryExpr, want *operand) operand {
	result := c.shapeOf(e)
	if c.isNil(e.X) || c.isNil(e.Y) {
		x := e.X
		if c.isNil(e.X) {
			x = e.Y
		}
		if c.isNil(x) {
			c.fail(e, "nil == nil")
		}
		v := c.expr(x, nil)
		dst := c.destination(result, want)
		o := opNilP
		if v.width == "If" {
			o = opNilIf
		}
		c.do(o, dst.at, v.at, 0)
		if e.Op == token.NEQ {
			c.do(opNotB, dst.at, dst.at, 0)
		}
		return dst
	}
	x, y, s := c.compared(e)
	switch e.Op {
	case token.GTR, token.GEQ:
		x, y = y, x
	}
	name := relational[e.Op]
	dst := c.destination(result, want)
	switch {
	case s.file == scalar:
		c.do(opNamed(name+suffix(s.typ.Kind(), name)), dst.at, x.at, y.at)
		return dst
	case s.width == "Str":
		if name == "Ne" {
			c.do(opEqStr, dst.at, x.at, y.at)
			c.do(opNotB, dst.at, dst.at, 0)
			return dst
		}
		c.do(opNamed(name+"Str"), dst.at, x.at, y.at)
		return dst
	case isComplex(s):
		c.do(opNamed(name+s.width), dst.at, x.at, y.at)
		return dst
	case s.width == "P":
		if s.file == reference {
			c.do(opEqP, dst.at, x.at, y.at)
		} else {
			c.equalMemory(s, dst, c.address(x), c.address(y))
		}
	case s.width == "If":
		c.equalInterfaces(s, dst.at, x.at, y.at)
	default:
		c.fail(e, "a comparison of %s", s.typ)
	}
	if name == "Ne" {
		c.do(opNotB, dst.at, dst.at, 0)
	}
	return dst
}

// compared evaluates the operands of a comparison and brings them to one type.
func (c *compiler) compared(e *ast.BinaryExpr) (x, y operand, s shape) {
	tx, ty := c.typeOf(e.X), c.typeOf(e.Y)
	t := tx
	if types.IsInterface(ty) && !types.IsInterface(tx) {
		t = ty
	}
	x = c.exprTo(e.X, t, nil)
	y = c.exprTo(e.Y, t, nil)
	if types.IsInterface(t) && (!types.Identical(tx, ty) && types.IsInterface(tx) && types.IsInterface(ty)) {
		c.fail(e, "a comparison of different interfaces")
	}
	return x, y, c.shape(e, t)
}

func (c *compiler) equalMemory(s shape, dst operand, x, y uint16) {
	at := dst.at
	typ := s.typ
	if !typ.Comparable() {
		c.fail(nil, "a comparison of %s", typ)
	}
	equal := reflect.Value.Equal
	if holdsInterface(typ) {
		registry := c.machine.config.Registry
		equal = func(a, b reflect.Value) bool { return registry.EqualParts(a.Interface(), b.Interface()) }
	}
	c.native("equal "+typ.String(), &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
		a, b := reflect.NewAt(typ, *pointer(sb, x)).Elem(), reflect.NewAt(typ, *pointer(sb, y)).Elem()
		*integer(nb, at) = truth(equal(a, b))
	}})
}

// holdsInterface reports whether a value of type t is an interface or has one among
// its fields and elements.
func holdsInterface(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Array:
		return holdsInterface(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if holdsInterface(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

// equalInterfaces compares as the run time does, which knows boxes. An interface
// with methods becomes any first.
func (c *compiler) equalInterfaces(s shape, dst, x, y uint16) {
	registry := c.machine.config.Registry
	asAny := func(sb unsafe.Pointer, at uint16) any { return *iface(sb, at) }
	if s.typ.NumMethod() > 0 {
		asAny = func(sb unsafe.Pointer, at uint16) any { return *failure(sb, at) }
	}
	c.native("equal", &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
		*integer(nb, dst) = truth(registry.Equal(asAny(sb, x), asAny(sb, y)))
	}})
}

// condition jumps to l when e is what is wanted. loop tells that l is behind.
func (c *compiler) condition(e ast.Expr, wanted bool, l *label, loop bool) {
	e = ast.Unparen(e)
	if tv := c.source.Info.Types[e]; tv.Value != nil {
		v, _ := bitsOf(tv.Value, reflect.Bool)
		if (v != 0) == wanted {
			if loop {
				c.jump(l, opLoop, 0, 0, 0)
			} else {
				c.jump(l, opJmp, 0, 0, 0)
			}
		}
		return
	}
	m := c.mark()
	defer c.release(m)
	switch x := e.(type) {
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			c.condition(x.X, !wanted, l, loop)
			return
		}
	case *ast.BinaryExpr:
		switch x.Op {
		case token.LAND, token.LOR:
			if (x.Op == token.LOR) == wanted {
				c.condition(x.X, wanted, l, loop)
				c.condition(x.Y, wanted, l, loop)
				return
			}
			skip := newLabel()
			c.condition(x.X, !wanted, skip, false)
			c.condition(x.Y, wanted, l, loop)
			c.place(skip)
			return
		case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
			if c.compareAndJump(x, wanted, l, loop) {
				return
			}
		}
	}
	v := c.expr(e, nil)
	switch {
	case !wanted && loop:
		c.do(opNotB, c.notted(&v), v.at, 0)
		c.jump(l, opLoopIf, v.at, 0, 0)
	case !wanted:
		c.jump(l, opIfNot, v.at, 0, 0)
	case loop:
		c.jump(l, opLoopIf, v.at, 0, 0)
	default:
		c.jump(l, opIf, v.at, 0, 0)
	}
}

// notted makes v a temporary and returns its register.
func (c *compiler) notted(v *operand) uint16 {
	x := *v
	t := c.temporary(v.shape)
	c.move(t, x)
	*v = t
	return t.at
}

var opposite = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.GEQ, token.GEQ: token.LSS, token.GTR: token.LEQ, token.LEQ: token.GTR,
}

var exchanged = map[token.Token]string{token.EQL: "Eq", token.NEQ: "Ne", token.LSS: "Lt", token.LEQ: "Le", token.GTR: "Gt", token.GEQ: "Ge"}

// compareAndJump compiles a comparison of scalars, or with nil, and the jump that
// depends on it to one instruction. It reports whether there is one.
func (c *compiler) compareAndJump(e *ast.BinaryExpr, wanted bool, l *label, loop bool) bool {
	if c.isNil(e.X) || c.isNil(e.Y) {
		x := e.X
		if c.isNil(e.X) {
			x = e.Y
		}
		if loop || c.isNil(x) || c.shapeOf(x).width == "If" {
			return false
		}
		v := c.expr(x, nil)
		o := opIfNotNil
		if (e.Op == token.EQL) == wanted {
			o = opIfNil
		}
		c.jump(l, o, v.at, 0, 0)
		return true
	}
	tx, ty := c.typeOf(e.X), c.typeOf(e.Y)
	if types.IsInterface(tx) || types.IsInterface(ty) {
		return false
	}
	s := c.shape(e, tx)
	kind := s.typ.Kind()
	if s.file != scalar || kind == reflect.Float32 {
		return false
	}
	o, prefix := e.Op, "If"
	if loop {
		prefix = "Loop"
	}
	isFloat := kind == reflect.Float64
	if !wanted {
		if isFloat && o != token.EQL && o != token.NEQ {
			if loop {
				return false
			}
			prefix = "IfNot"
		} else {
			o = opposite[o]
		}
	}
	if !isFloat {
		if k, ok := c.small(e.Y); ok && (isSigned(kind) || o == token.EQL || o == token.NEQ) {
			x := c.expr(e.X, nil)
			c.jump(l, opNamed(prefix+exchanged[o]+"K"), x.at, 0, k)
			return true
		}
	}
	x := c.expr(e.X, nil)
	y := c.expr(e.Y, nil)
	if o == token.GTR || o == token.GEQ {
		x, y = y, x
	}
	name := relational[o]
	c.jump(l, opNamed(prefix+name+suffix(kind, name)), x.at, y.at, 0)
	return true
}
