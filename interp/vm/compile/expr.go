package compile

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"reflect"

	"github.com/quernlab/quern/interp/vm"
)

// expr compiles an expression. If want is not nil and the value is not in memory, the value ends up in
// want. The last instruction writes it, so operands may still be read from want.
func (c *compiler) expr(e ast.Expr, want *operand) operand {
	if tv, ok := c.source.Info.Types[e]; ok && tv.Value != nil {
		return c.constant(e, tv.Value, c.typeOf(e), want)
	}
	defer c.withPosition(e)()
	m := c.mark()
	return c.compact(m, c.compute(e, want))
}

// maxTemporaries is the number of registers that the parts of an expression may keep until its statement ends.
const maxTemporaries = 32

// compact releases the registers above m if there are many, and returns x, which may be in one of them.
func (c *code) compact(m mark, x operand) operand {
	if c.scalarsInUse-m.scalars <= maxTemporaries && c.slotsInUse-m.slots <= maxTemporaries {
		return x
	}
	above := int(x.reg/8) >= m.scalars
	if x.File != vm.Scalar {
		above = (int(x.reg)-int(vm.SlotOffset))/int(vm.SlotSize) >= m.slots
	}
	c.release(m)
	if x.Type == nil || !above {
		return x
	}
	to := c.temporary(x.Shape)
	c.move(to, x)
	to.owned = x.owned && x.offset == 0
	return to
}

// compute compiles an expression that is not a constant.
func (c *compiler) compute(e ast.Expr, want *operand) operand {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return c.expr(e.X, want)
	case *ast.Ident:
		return c.identifier(e, want)
	case *ast.BinaryExpr:
		return c.binary(e, want)
	case *ast.UnaryExpr:
		return c.unary(e, want)
	case *ast.CallExpr:
		return c.callExpr(e, want)
	case *ast.IndexExpr, *ast.SelectorExpr, *ast.StarExpr:
		if sel, ok := e.(*ast.SelectorExpr); ok {
			if v, done := c.selected(sel, want); done {
				return v
			}
		}
		if index, ok := e.(*ast.IndexExpr); ok {
			if v, done := c.instantiated(index, want); done {
				return v
			}
			if v, done := c.indexed(index, want); done {
				return v
			}
		}
		before := len(c.fn.Code)
		l := c.locate(e)
		return c.getOnce(l, before, want)
	case *ast.TypeAssertExpr:
		v, _, _ := c.assertion(e, false)
		return c.moveInto(v, want)
	case *ast.SliceExpr:
		return c.sliceExpr(e, want)
	case *ast.CompositeLit:
		return c.composite(e, want)
	case *ast.FuncLit:
		return c.functionLiteral(e, want)
	case *ast.IndexListExpr:
		if v, done := c.instantiated(e, want); done {
			return v
		}
	}
	c.fail(e, "the expression %T", e)
	return operand{}
}

// instantiated compiles e if it denotes a generic function or method with its type arguments.
func (c *compiler) instantiated(e ast.Expr, want *operand) (operand, bool) {
	if x := instantiatedMethod(e); x != nil {
		if sel := c.source.Info.Selections[x]; sel != nil && sel.Kind() != types.FieldVal {
			return c.selected(x, want)
		}
	}
	if o, ok := c.genericFunction(e); ok {
		return c.functionValue(e, o, want), true
	}
	return operand{}, false
}

// withPosition sets the source position to that of an expression that may panic. It returns a function that
// restores the previous position.
func (c *compiler) withPosition(e ast.Expr) func() {
	switch e.(type) {
	case *ast.CallExpr, *ast.IndexExpr, *ast.SelectorExpr, *ast.StarExpr, *ast.SliceExpr, *ast.BinaryExpr:
		outer := c.position
		c.setPosition(e)
		return func() { c.position = outer }
	}
	return func() {}
}

// moveInto returns x in the register of want, if want is not nil.
func (c *code) moveInto(x operand, want *operand) operand {
	if want == nil || x.reg == want.reg && x.offset == 0 {
		return x
	}
	to := operand{Shape: x.Shape, reg: want.reg}
	c.move(to, x)
	return to
}

// exprTo compiles an expression that is assigned to a variable of type t.
func (c *compiler) exprTo(e ast.Expr, t types.Type, want *operand) operand {
	if c.isNil(e) {
		s := c.shape(e, t)
		dst := c.destination(s, want)
		c.do(vm.OpNil, dst.reg, 0, 0)
		return dst
	}
	from := c.typeOf(e)
	if types.IsInterface(t) && !types.IsInterface(from) {
		return c.toInterface(e, c.expr(e, nil), from, t, want)
	}
	if types.IsInterface(t) {
		return c.betweenInterfaces(e, c.expr(e, want), from, t, want)
	}
	return c.moveInto(c.expr(e, want), want)
}

// value compiles an expression to a value that later assignments to its variables do not change.
func (c *compiler) value(e ast.Expr, t types.Type) operand {
	x := c.exprTo(e, t, nil)
	return c.snapshot(x)
}

// snapshot returns x, or a copy if x is in the register of a variable or in memory.
func (c *compiler) snapshot(x operand) operand {
	if x.File == vm.Memory {
		return c.own(x, nil)
	}
	if !c.isVariable(x) {
		return x
	}
	to := c.temporary(x.Shape)
	c.move(to, x)
	return to
}

// isVariable reports whether x is in the register of a variable.
func (c *compiler) isVariable(x operand) bool {
	for _, v := range c.variables {
		if v.reg == x.reg && !v.boxed && (v.File == vm.Scalar) == (x.File == vm.Scalar) {
			return true
		}
	}
	return false
}

func (c *compiler) isNil(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	_, isNil := c.source.Info.Uses[id].(*types.Nil)
	return isNil
}

// constant loads a constant.
func (c *code) constant(n ast.Node, v constant.Value, t types.Type, want *operand) operand {
	if types.IsInterface(t) {
		c.fail(n, "a constant of an interface type")
	}
	s := c.shape(n, t)
	dst := c.destination(s, want)
	if s.Width == "Str" {
		c.emit(vm.OpConstStr, dst.reg, 0, 0, int32(len(c.fn.Strings)), 0)
		c.fn.Strings = append(c.fn.Strings, constant.StringVal(v))
		return dst
	}
	if vm.IsComplex(s) {
		c.constantComplex(dst, v)
		return dst
	}
	bits, ok := bitsOf(v, s.Type.Kind())
	if !ok {
		c.fail(n, "a constant of type %s", t)
	}
	c.constantBits(dst.reg, bits)
	return dst
}

func (c *code) constantBits(at uint16, bits int64) {
	if bits == int64(int32(bits)) {
		c.emit(vm.OpConst, at, 0, 0, int32(bits), 0)
		return
	}
	c.emit(vm.OpConst64, at, 0, 0, int32(len(c.fn.Constants64)), 0)
	c.fn.Constants64 = append(c.fn.Constants64, bits)
}

// bitsOf returns the contents of a scalar register for a constant.
func bitsOf(v constant.Value, kind reflect.Kind) (int64, bool) {
	switch kind {
	case reflect.Bool:
		return vm.BoolToInt(constant.BoolVal(v)), true
	case reflect.Float64:
		f, _ := constant.Float64Val(constant.ToFloat(v))
		return int64(math.Float64bits(f)), true
	case reflect.Float32:
		f, _ := constant.Float32Val(constant.ToFloat(v))
		return int64(math.Float32bits(f)), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return constant.Int64Val(constant.ToInt(v))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		u, ok := constant.Uint64Val(constant.ToInt(v))
		return int64(u), ok
	}
	return 0, false
}

// smallConstant returns the value of an integer constant that fits into an instruction.
func (c *compiler) smallConstant(e ast.Expr) (int32, bool) {
	tv, ok := c.source.Info.Types[e]
	if !ok || tv.Value == nil {
		return 0, false
	}
	t := c.typeOf(e)
	b, ok := t.Underlying().(*types.Basic)
	if !ok || b.Info()&types.IsInteger == 0 {
		return 0, false
	}
	v := constant.ToInt(tv.Value)
	if v.Kind() != constant.Int {
		return 0, false
	}
	n, exact := constant.Int64Val(v)
	return int32(n), exact && n == int64(int32(n))
}

// identifier compiles the name of a variable, or of a function that is used as a value.
func (c *compiler) identifier(e *ast.Ident, want *operand) operand {
	switch o := c.source.Info.ObjectOf(e).(type) {
	case *types.Var:
		if v := c.variable(o); v != nil {
			return c.moveInto(c.read(v, want), want)
		}
		return c.get(c.global(e, o), want)
	case *types.Func:
		return c.functionValue(e, o, want)
	case *types.Nil:
		c.fail(e, "nil without a type")
	}
	c.fail(e, "the name %s", e.Name)
	return operand{}
}

// variable returns a local variable, or nil.
func (c *compiler) variable(o types.Object) *variable { return c.variables[o] }

// read returns the value of a local variable.
func (c *code) read(v *variable, want *operand) operand {
	if v.File != vm.Memory && v.boxed {
		return c.load(v.Shape, v.reg, 0, want)
	}
	return operand{Shape: v.Shape, reg: v.reg}
}

// global returns the location of a variable of the session or of a compiled package.
func (c *compiler) global(n ast.Node, v *types.Var) location {
	s := c.shape(n, v.Type())
	if at, ok := c.globals[v]; ok {
		return location{kind: inMemory, Shape: s, reg: at, nonNil: true}
	}
	var g *vm.Global
	if name := c.source.Global(v); name != "" {
		g = c.unit.global(name, s.Type)
	} else if v.Pkg() != nil {
		symbol, ok := c.unit.config.Packages[v.Pkg().Path()+"/"+v.Pkg().Name()][v.Name()]
		if !ok || !symbol.CanAddr() || symbol.Type() != s.Type {
			c.fail(n, "the variable %s", v.Name())
		}
		g = &vm.Global{Name: v.Name(), Address: symbol.Addr().UnsafePointer()}
	}
	if g == nil {
		c.fail(n, "the variable %s", v.Name())
	}
	at := c.referenceRegister()
	c.fn.Globals = append(c.fn.Globals, g)
	c.emit(vm.OpGlobal, at, 0, 0, int32(len(c.fn.Globals)-1), 0)
	return location{kind: inMemory, Shape: s, reg: at, nonNil: true}
}

// unary compiles unary operators.
func (c *compiler) unary(e *ast.UnaryExpr, want *operand) operand {
	switch e.Op {
	case token.AND:
		return c.addressOf(e, want)
	case token.ARROW:
		v, _, _ := c.receive(e.X)
		return c.moveInto(v, want)
	case token.ADD:
		return c.moveInto(c.expr(e.X, want), want)
	case token.NOT:
		x := c.expr(e.X, nil)
		dst := c.destination(x.Shape, want)
		c.do(vm.OpNotB, dst.reg, x.reg, 0)
		return dst
	case token.SUB, token.XOR:
		x := c.expr(e.X, nil)
		dst := c.destination(x.Shape, want)
		if vm.IsComplex(x.Shape) && e.Op == token.SUB {
			c.do(opNamed("Neg"+x.Width), dst.reg, x.reg, 0)
			return dst
		}
		o := vm.OpNotI
		if e.Op == token.SUB {
			switch x.Type.Kind() {
			case reflect.Float64:
				o = vm.OpNegF
			case reflect.Float32:
				o = vm.OpNegG
			default:
				o = vm.OpNegI
			}
		}
		c.do(o, dst.reg, x.reg, 0)
		c.wrap(dst)
		return dst
	}
	c.fail(e, "the operator %s", e.Op)
	return operand{}
}

// wrap truncates the result of integer arithmetic to the width of its type.
func (c *code) wrap(x operand) {
	if o, ok := wraps[x.Type.Kind()]; ok {
		c.do(o, x.reg, x.reg, 0)
	}
}

var wraps = map[reflect.Kind]vm.Op{
	reflect.Int8: vm.OpSign8, reflect.Int16: vm.OpSign16, reflect.Int32: vm.OpSign32,
	reflect.Uint8: vm.OpZero8, reflect.Uint16: vm.OpZero16, reflect.Uint32: vm.OpZero32,
}

// addressOf compiles &x.
func (c *compiler) addressOf(e *ast.UnaryExpr, want *operand) operand {
	s := c.shapeOf(e)
	x := ast.Unparen(e.X)
	if lit, ok := x.(*ast.CompositeLit); ok {
		return c.newVariable(s, c.composite(lit, nil), want)
	}
	p := c.locate(x)
	switch p.kind {
	case inMemory:
		return c.moveInto(operand{Shape: s, reg: c.checkedAddress(p)}, want)
	case inSliceElement:
		dst := c.destination(s, want)
		c.elementAddressTo(p, dst.reg)
		return dst
	}
	c.fail(e, "the address of this expression")
	return operand{}
}

// checkedAddress returns the address of a location, after a nil check.
func (c *code) checkedAddress(p location) uint16 {
	if p.offset == 0 && p.nonNil {
		return p.reg
	}
	t := c.referenceRegister()
	c.emit(vm.OpLea, t, p.reg, 0, p.offset, 0)
	return t
}

// functionValue compiles a declared function that is used as a value.
func (c *compiler) functionValue(e ast.Expr, o *types.Func, want *operand) operand {
	s := c.shapeOf(e)
	f := c.unit.callee(o)
	if f == nil {
		f = c.functionInstance(e, o)
	}
	if f != nil {
		return c.declaredValue(f, s, want)
	}
	return c.compiledValue(e, o, s, want)
}
