package vm

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"unsafe"
)

// binary compiles binary operators. The left operand may stay in the register of its variable, because
// variables that other code can change are not in registers.
func (c *compiler) binary(e *ast.BinaryExpr, want *operand) operand {
	switch e.Op {
	case token.LAND, token.LOR:
		// Not into want, which may be the register of an operand.
		t := c.temporary(c.shapeOf(e))
		end := newLabel()
		o := opIf
		if e.Op == token.LAND {
			o = opIfNot
		}
		operands := chain(e)
		for i, x := range operands {
			m := c.mark()
			c.move(t, c.expr(x, &t))
			c.release(m)
			if i < len(operands)-1 {
				c.jump(end, o, t.reg, 0, 0)
			}
		}
		c.bind(end)
		return c.moveInto(t, want)
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return c.comparison(e, want)
	case token.SHL, token.SHR:
		return c.shift(e.Op, c.shapeOf(e), c.expr(e.X, nil), e.Y, want)
	}
	s, left, right := c.shapeOf(e), e.X, e.Y
	if _, constant := c.smallConstant(left); constant && (e.Op == token.ADD || e.Op == token.MUL || e.Op == token.AND) {
		left, right = right, left // instructions with a constant have it on the right
	}
	return c.arithmetic(e, e.Op, s, c.expr(left, nil), right, want)
}

// chain returns the operands of a chain of the same operator, such as a && b && c.
func chain(e *ast.BinaryExpr) (operands []ast.Expr) {
	var x ast.Expr = e
	for {
		b, ok := ast.Unparen(x).(*ast.BinaryExpr)
		if !ok || b.Op != e.Op {
			break
		}
		operands, x = append(operands, b.Y), b.X
	}
	operands = append(operands, x)
	slices.Reverse(operands)
	return operands
}

// hasCalls reports whether evaluating e may call functions, which may have side effects.
func (c *compiler) hasCalls(e ast.Node) (found bool) {
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

var arithmeticNames = map[token.Token]string{
	token.ADD: "Add", token.SUB: "Sub", token.MUL: "Mul", token.QUO: "Div", token.REM: "Rem",
	token.AND: "And", token.OR: "Or", token.XOR: "Xor", token.AND_NOT: "AndNot",
}

// arithmetic compiles x op y for values of shape s.
func (c *compiler) arithmetic(n ast.Node, o token.Token, s shape, x operand, right ast.Expr, want *operand) operand {
	name := arithmeticNames[o]
	if name == "" {
		c.fail(n, "the operator %s", o)
	}
	if s.width == "Str" {
		y := c.expr(right, nil)
		dst := c.destination(s, want)
		c.do(opConcat, dst.reg, x.reg, y.reg)
		return dst
	}
	if isComplex(s) {
		y := c.expr(right, nil)
		dst := c.destination(s, want)
		c.do(opNamed(name+s.width), dst.reg, x.reg, y.reg)
		return dst
	}
	if s.file != scalar {
		c.fail(n, "the operator %s for %s", o, s.typ)
	}
	kind := s.typ.Kind()
	if kind != reflect.Float64 && kind != reflect.Float32 {
		if k, ok := c.smallConstant(right); ok {
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
	c.do(opNamed(name+suffix(kind, name)), dst.reg, x.reg, y.reg)
	c.wrap(dst)
	return dst
}

func (c *code) withConstant(o op, s shape, x operand, k int32, want *operand) operand {
	dst := c.destination(s, want)
	c.emit(o, dst.reg, x.reg, 0, k, 0)
	c.wrap(dst)
	return dst
}

func isSigned(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Int64 }

// suffix returns the suffix of the operation name for values of a kind.
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
		c.do(opCheckShift, y.reg, 0, 0)
	}
	code := opShlI
	if o == token.SHR {
		code = opShrI
		if unsigned {
			code = opShrU
		}
	}
	dst := c.destination(s, want)
	c.do(code, dst.reg, x.reg, y.reg)
	c.wrap(dst)
	return dst
}

var relationNames = map[token.Token]string{token.EQL: "Eq", token.NEQ: "Ne", token.LSS: "Lt", token.LEQ: "Le", token.GTR: "Lt", token.GEQ: "Le"}

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
		c.do(o, dst.reg, v.reg, 0)
		if e.Op == token.NEQ {
			c.do(opNotB, dst.reg, dst.reg, 0)
		}
		return dst
	}
	x, y, s := c.comparisonOperands(e)
	switch e.Op {
	case token.GTR, token.GEQ:
		x, y = y, x
	}
	name := relationNames[e.Op]
	dst := c.destination(result, want)
	switch {
	case s.file == scalar:
		c.do(opNamed(name+suffix(s.typ.Kind(), name)), dst.reg, x.reg, y.reg)
		return dst
	case s.width == "Str":
		if name == "Ne" {
			c.do(opEqStr, dst.reg, x.reg, y.reg)
			c.do(opNotB, dst.reg, dst.reg, 0)
			return dst
		}
		c.do(opNamed(name+"Str"), dst.reg, x.reg, y.reg)
		return dst
	case isComplex(s):
		c.do(opNamed(name+s.width), dst.reg, x.reg, y.reg)
		return dst
	case s.width == "P":
		if s.file == reference {
			c.do(opEqP, dst.reg, x.reg, y.reg)
		} else {
			c.equalMemory(s, dst, c.address(x), c.address(y))
		}
	case s.width == "If":
		c.equalInterfaces(dst.reg, x, y)
	default:
		c.fail(e, "a comparison of %s", s.typ)
	}
	if name == "Ne" {
		c.do(opNotB, dst.reg, dst.reg, 0)
	}
	return dst
}

// comparisonOperands compiles the operands of a comparison and converts them to one type.
func (c *compiler) comparisonOperands(e *ast.BinaryExpr) (x, y operand, s shape) {
	tx, ty := c.typeOf(e.X), c.typeOf(e.Y)
	t := tx
	if types.IsInterface(tx) || types.IsInterface(ty) {
		t = types.NewInterfaceType(nil, nil) // the interfaces may be different
	}
	x = c.exprTo(e.X, t, nil)
	y = c.exprTo(e.Y, t, nil)
	return x, y, c.shape(e, t)
}

func (c *code) equalMemory(s shape, dst operand, x, y uint16) {
	at := dst.reg
	typ := s.typ
	if !typ.Comparable() {
		c.fail(nil, "a comparison of %s", typ)
	}
	equal := reflect.Value.Equal
	if holdsInterface(typ) {
		registry := c.vm.config.Registry
		equal = func(a, b reflect.Value) bool { return registry.EqualParts(a.Interface(), b.Interface()) }
	}
	c.native("equal "+typ.String(), &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
		a, b := reflect.NewAt(typ, *pointerAt(sb, x)).Elem(), reflect.NewAt(typ, *pointerAt(sb, y)).Elem()
		*intAt(nb, at) = boolToInt(equal(a, b))
	}})
}

// holdsInterface reports whether t is an interface type, or a struct or array type that contains one.
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

// equalInterfaces compares values of type any by the runtime library.
func (c *code) equalInterfaces(dst uint16, x, y operand) {
	registry := c.vm.config.Registry
	c.native("equal", &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
		*intAt(nb, dst) = boolToInt(registry.Equal(*anyAt(sb, x.reg), *anyAt(sb, y.reg)))
	}})
}
