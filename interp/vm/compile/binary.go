package compile

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"unsafe"

	"github.com/quernlab/quern/interp/desugar"
	"github.com/quernlab/quern/interp/vm"
)

// binary compiles binary operators. The left operand may stay in the register of its variable, because
// variables that other code can change are not in registers.
func (c *compiler) binary(e *ast.BinaryExpr, want *operand) operand {
	switch e.Op {
	case token.LAND, token.LOR:
		// Not into want, which may be the register of an operand.
		t := c.temporary(c.shapeOf(e))
		end := newLabel()
		o := vm.OpIf
		if e.Op == token.LAND {
			o = vm.OpIfNot
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
func (c *compiler) hasCalls(e ast.Node) bool { return e != nil && desugar.HasCalls(c.source.Info, e) }

var arithmeticNames = map[token.Token]string{
	token.ADD: "Add", token.SUB: "Sub", token.MUL: "Mul", token.QUO: "Div", token.REM: "Rem",
	token.AND: "And", token.OR: "Or", token.XOR: "Xor", token.AND_NOT: "AndNot",
}

// arithmetic compiles x op y for values of shape s.
func (c *compiler) arithmetic(n ast.Node, o token.Token, s vm.Shape, x operand, right ast.Expr, want *operand) operand {
	name := arithmeticNames[o]
	if name == "" {
		c.fail(n, "the operator %s", o)
	}
	if s.Width == "Str" {
		y := c.expr(right, nil)
		dst := c.destination(s, want)
		c.do(vm.OpConcat, dst.reg, x.reg, y.reg)
		return dst
	}
	if vm.IsComplex(s) {
		y := c.expr(right, nil)
		dst := c.destination(s, want)
		c.do(opNamed(name+s.Width), dst.reg, x.reg, y.reg)
		return dst
	}
	if s.File != vm.Scalar {
		c.fail(n, "the operator %s for %s", o, s.Type)
	}
	kind := s.Type.Kind()
	if kind != reflect.Float64 && kind != reflect.Float32 {
		if k, ok := c.smallConstant(right); ok {
			signed := isSigned(kind)
			switch {
			case o == token.ADD:
				return c.withConstant(vm.OpAddK, s, x, k, want)
			case o == token.SUB && k != -1<<31:
				return c.withConstant(vm.OpAddK, s, x, -k, want)
			case o == token.MUL:
				return c.withConstant(vm.OpMulK, s, x, k, want)
			case o == token.AND && (signed || k >= 0):
				return c.withConstant(vm.OpAndK, s, x, k, want)
			case o == token.QUO && k != 0 && signed:
				return c.withConstant(vm.OpDivK, s, x, k, want)
			case o == token.REM && k != 0 && signed:
				return c.withConstant(vm.OpRemK, s, x, k, want)
			}
		}
	}
	y := c.expr(right, nil)
	dst := c.destination(s, want)
	c.do(opNamed(name+suffix(kind, name)), dst.reg, x.reg, y.reg)
	c.wrap(dst)
	return dst
}

func (c *code) withConstant(o vm.Op, s vm.Shape, x operand, k int32, want *operand) operand {
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
func (c *compiler) shift(o token.Token, s vm.Shape, x operand, count ast.Expr, want *operand) operand {
	unsigned := !isSigned(s.Type.Kind())
	if tv := c.source.Info.Types[count]; tv.Value != nil {
		k, ok := bitsOf(tv.Value, reflect.Uint64)
		if !ok || k < 0 || k > 64 {
			k = 64
		}
		code := vm.OpShlK
		if o == token.SHR {
			code = vm.OpShrK
			if unsigned {
				code = vm.OpShrUK
			}
		}
		return c.withConstant(code, s, x, int32(k), want)
	}
	y := c.expr(count, nil)
	if isSigned(y.Type.Kind()) {
		c.do(vm.OpCheckShift, y.reg, 0, 0)
	}
	code := vm.OpShlI
	if o == token.SHR {
		code = vm.OpShrI
		if unsigned {
			code = vm.OpShrU
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
		o := vm.OpNilP
		if v.Width == "If" {
			o = vm.OpNilIf
		}
		c.do(o, dst.reg, v.reg, 0)
		if e.Op == token.NEQ {
			c.do(vm.OpNotB, dst.reg, dst.reg, 0)
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
	case s.File == vm.Scalar:
		c.do(opNamed(name+suffix(s.Type.Kind(), name)), dst.reg, x.reg, y.reg)
		return dst
	case s.Width == "Str":
		if name == "Ne" {
			c.do(vm.OpEqStr, dst.reg, x.reg, y.reg)
			c.do(vm.OpNotB, dst.reg, dst.reg, 0)
			return dst
		}
		c.do(opNamed(name+"Str"), dst.reg, x.reg, y.reg)
		return dst
	case vm.IsComplex(s):
		c.do(opNamed(name+s.Width), dst.reg, x.reg, y.reg)
		return dst
	case s.Width == "P":
		if s.File == vm.Reference {
			c.do(vm.OpEqP, dst.reg, x.reg, y.reg)
		} else {
			c.equalMemory(s, dst, c.address(x), c.address(y))
		}
	case s.Width == "If":
		c.equalInterfaces(dst.reg, x, y)
	default:
		c.fail(e, "a comparison of %s", s.Type)
	}
	if name == "Ne" {
		c.do(vm.OpNotB, dst.reg, dst.reg, 0)
	}
	return dst
}

// comparisonOperands compiles the operands of a comparison and converts them to one type.
func (c *compiler) comparisonOperands(e *ast.BinaryExpr) (x, y operand, s vm.Shape) {
	tx, ty := c.typeOf(e.X), c.typeOf(e.Y)
	t := tx
	if types.IsInterface(tx) || types.IsInterface(ty) {
		t = types.NewInterfaceType(nil, nil) // the interfaces may be different
	}
	x = c.exprTo(e.X, t, nil)
	y = c.exprTo(e.Y, t, nil)
	return x, y, c.shape(e, t)
}

func (c *code) equalMemory(s vm.Shape, dst operand, x, y uint16) {
	at := dst.reg
	typ := s.Type
	if !typ.Comparable() {
		c.fail(nil, "a comparison of %s", typ)
	}
	equal := reflect.Value.Equal
	if holdsInterface(typ) {
		registry := c.vm.Registry()
		equal = func(a, b reflect.Value) bool { return registry.EqualParts(a.Interface(), b.Interface()) }
	}
	c.native("equal "+typ.String(), &vm.Native{Run: func(_ *vm.Thread, nb, sb unsafe.Pointer) {
		a, b := reflect.NewAt(typ, *vm.PointerAt(sb, x)).Elem(), reflect.NewAt(typ, *vm.PointerAt(sb, y)).Elem()
		*vm.IntAt(nb, at) = vm.BoolToInt(equal(a, b))
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
	registry := c.vm.Registry()
	c.native("equal", &vm.Native{Run: func(_ *vm.Thread, nb, sb unsafe.Pointer) {
		*vm.IntAt(nb, dst) = vm.BoolToInt(registry.Equal(*vm.AnyAt(sb, x.reg), *vm.AnyAt(sb, y.reg)))
	}})
}

// constantComplex loads a complex constant into a register.
func (c *code) constantComplex(dst operand, v constant.Value) {
	v = constant.ToComplex(v)
	var x complex128
	if dst.Width == "D" {
		re, _ := constant.Float32Val(constant.Real(v))
		im, _ := constant.Float32Val(constant.Imag(v))
		x = complex128(complex(re, im))
	} else {
		re, _ := constant.Float64Val(constant.Real(v))
		im, _ := constant.Float64Val(constant.Imag(v))
		x = complex(re, im)
	}
	c.emit(opNamed("Const"+dst.Width), dst.reg, 0, 0, int32(len(c.fn.Complexes)), 0)
	c.fn.Complexes = append(c.fn.Complexes, x)
}

// makeComplex compiles complex(x, y).
func (c *compiler) makeComplex(e *ast.CallExpr, want *operand) operand {
	if len(e.Args) != 2 {
		c.fail(e, "several values as the arguments of complex")
	}
	s := c.shapeOf(e)
	x, y := c.expr(e.Args[0], nil), c.expr(e.Args[1], nil)
	dst := c.destination(s, want)
	c.do(opNamed("Make"+s.Width), dst.reg, x.reg, y.reg)
	return dst
}

// part compiles real(x) and imag(x).
func (c *compiler) part(e *ast.CallExpr, name string, want *operand) operand {
	x := c.expr(e.Args[0], nil)
	dst := c.destination(c.shapeOf(e), want)
	o := "Real"
	if name == "imag" {
		o = "Imag"
	}
	c.do(opNamed(o+x.Width), dst.reg, x.reg, 0)
	return dst
}

// convertComplex converts a complex number to another complex type.
func (c *code) convertComplex(x operand, to vm.Shape, want *operand) operand {
	dst := c.destination(to, want)
	if x.Width == to.Width {
		c.move(operand{Shape: to, reg: dst.reg}, operand{Shape: to, reg: x.reg})
	} else {
		c.do(opNamed(x.Width+to.Width), dst.reg, x.reg, 0)
	}
	return dst
}

// callComplex compiles the call of a function of package math/cmplx, or returns nil for any other function.
// Adapters do not support complex numbers, which Go passes in floating-point registers.
func (c *compiler) callComplex(e *ast.CallExpr, name string, f any, sig *types.Signature) []operand {
	switch f.(type) {
	case func(complex128) complex128, func(complex128) float64, func(complex128) bool,
		func(complex128) (float64, float64), func(_, _ complex128) complex128, func(_, _ float64) complex128:
	default:
		return nil
	}
	before := c.mark()
	var x []uint16
	for i, a := range e.Args {
		x = append(x, c.exprTo(a, sig.Params().At(i).Type(), nil).reg)
	}
	c.release(before)
	var results []operand
	var r []uint16
	for v := range sig.Results().Variables() {
		to := c.temporary(c.shape(e, v.Type()))
		results, r = append(results, to), append(r, to.reg)
	}
	var run func(t *vm.Thread, nb, sb unsafe.Pointer)
	switch f := f.(type) {
	case func(complex128) complex128:
		run = func(_ *vm.Thread, _, sb unsafe.Pointer) { *vm.Complex128At(sb, r[0]) = f(*vm.Complex128At(sb, x[0])) }
	case func(complex128) float64:
		run = func(_ *vm.Thread, nb, sb unsafe.Pointer) { *vm.FloatAt(nb, r[0]) = f(*vm.Complex128At(sb, x[0])) }
	case func(complex128) bool:
		run = func(_ *vm.Thread, nb, sb unsafe.Pointer) {
			*vm.IntAt(nb, r[0]) = vm.BoolToInt(f(*vm.Complex128At(sb, x[0])))
		}
	case func(complex128) (float64, float64):
		run = func(_ *vm.Thread, nb, sb unsafe.Pointer) {
			*vm.FloatAt(nb, r[0]), *vm.FloatAt(nb, r[1]) = f(*vm.Complex128At(sb, x[0]))
		}
	case func(_, _ complex128) complex128:
		run = func(_ *vm.Thread, _, sb unsafe.Pointer) {
			*vm.Complex128At(sb, r[0]) = f(*vm.Complex128At(sb, x[0]), *vm.Complex128At(sb, x[1]))
		}
	case func(_, _ float64) complex128:
		run = func(_ *vm.Thread, nb, sb unsafe.Pointer) {
			*vm.Complex128At(sb, r[0]) = f(*vm.FloatAt(nb, x[0]), *vm.FloatAt(nb, x[1]))
		}
	}
	c.native(name, &vm.Native{Run: run})
	return results
}
