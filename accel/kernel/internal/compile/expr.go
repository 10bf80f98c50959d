package compile

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// scalar returns the scalar type of t, or fails.
func (c *compiler) scalar(at ast.Node, t types.Type) program.Type {
	s, ok := c.scalarType(t)
	if !ok {
		t = c.subst(t)
		c.fail(at, "a value of type %s is not supported here%s", types.TypeString(t, (*types.Package).Name), reason(t))
	}
	return s
}

// operand compiles an expression with a scalar value.
func (c *compiler) operand(e ast.Expr) program.Operand {
	x, ok := c.value(e).(program.Operand)
	if !ok {
		c.scalar(e, c.info.TypeOf(e))
		c.fail(e, "this expression is not supported in a kernel")
	}
	return x
}

// valueAs compiles an expression whose value is assigned to a variable of type t.
func (c *compiler) valueAs(e ast.Expr, t types.Type) value {
	if t != nil && c.info.Types[e].Value != nil {
		if s, ok := c.scalarType(t); ok {
			return c.convertConstant(e, s)
		}
	}
	return c.value(e)
}

// convertConstant compiles an expression of which a constant has the type t.
func (c *compiler) convertConstant(e ast.Expr, t program.Type) program.Operand {
	if v := c.info.Types[e].Value; v != nil {
		return c.constant(e, v, t)
	}
	return c.operand(e)
}

// constant returns a constant.
func (c *compiler) constant(at ast.Node, v constant.Value, t program.Type) program.Operand {
	x := program.Operand{Type: t}
	switch {
	case t == program.Bool:
		if constant.BoolVal(v) {
			x.Bits = 1
		}
	case t == program.Float32:
		f, _ := constant.Float32Val(constant.ToFloat(v))
		x.Bits = uint64(math.Float32bits(f))
	case t == program.Float64:
		f, _ := constant.Float64Val(constant.ToFloat(v))
		x.Bits = math.Float64bits(f)
	case t.IsSigned():
		i, ok := constant.Int64Val(constant.ToInt(v))
		if !ok {
			c.fail(at, "the constant %s overflows %s", v, t)
		}
		x.Bits = uint64(i)
	default:
		u, ok := constant.Uint64Val(constant.ToInt(v))
		if !ok {
			c.fail(at, "the constant %s overflows %s", v, t)
		}
		x.Bits = u
	}
	return x
}

// value compiles an expression with one value.
func (c *compiler) value(e ast.Expr) value {
	defer c.here(e)()
	tv := c.info.Types[e]
	if tv.Value != nil {
		return c.constant(e, tv.Value, c.scalar(e, tv.Type))
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return c.value(e.X)
	case *ast.Ident:
		return c.identifier(e)
	case *ast.SelectorExpr:
		return c.loaded(c.selector(e))
	case *ast.IndexExpr:
		return c.loaded(c.index(e))
	case *ast.SliceExpr:
		return c.sliceExpr(e)
	case *ast.UnaryExpr:
		return c.unary(e)
	case *ast.BinaryExpr:
		return c.binaryExpr(e)
	case *ast.CallExpr:
		results := c.call(e)
		if len(results) != 1 {
			c.fail(e, "this call has %d values, not one", len(results))
		}
		return results[0]
	case *ast.CompositeLit:
		return c.literal(e)
	case *ast.FuncLit:
		c.fail(e, "a kernel cannot use function literals: declare a function")
	case *ast.StarExpr:
		c.fail(e, "a kernel cannot use pointers: use a slice, or pass and return a value")
	case *ast.TypeAssertExpr:
		c.fail(e, "a kernel cannot use interfaces")
	}
	c.fail(e, "this expression is not supported in a kernel")
	return nil
}

func (c *compiler) identifier(e *ast.Ident) value {
	o := c.info.Uses[e]
	if o == nil {
		o = c.info.Defs[e]
	}
	if x, ok := c.frame.variables[o]; ok {
		return x
	}
	switch o := o.(type) {
	case *types.Func:
		c.fail(e, "a kernel cannot use functions as values")
	case *types.Nil:
		c.fail(e, "nil is not supported in a kernel")
	default:
		c.fail(e, "%s is not supported in a kernel", o.Name())
	}
	return nil
}

// loaded returns a value; that of an elementPlace is loaded.
func (c *compiler) loaded(x value) value {
	if p, ok := x.(elementPlace); ok {
		return c.load(p.memory, p.at)
	}
	return x
}

// selector returns the place of a field.
func (c *compiler) selector(e *ast.SelectorExpr) place {
	sel := c.info.Selections[e]
	if sel == nil || sel.Kind() != types.FieldVal {
		c.fail(e, "a kernel cannot use functions as values")
	}
	return c.field(e, c.value(e.X), sel.Index())
}

// field returns the place of a field, by the indices of fields that lead to it.
func (c *compiler) field(e ast.Node, x value, index []int) place {
	for _, i := range index {
		s, ok := x.(*structure)
		if !ok {
			c.fail(e, "this field is not supported in a kernel")
		}
		x = s.fields[i]
	}
	return x
}

var comparisons = map[token.Token]bool{token.EQL: true, token.NEQ: true, token.LSS: true, token.LEQ: true, token.GTR: true, token.GEQ: true}

// binaryExpr compiles a binary expression that is not constant.
func (c *compiler) binaryExpr(e *ast.BinaryExpr) value {
	switch {
	case e.Op == token.LAND || e.Op == token.LOR:
		out := c.newVar(program.Bool)
		c.move(out, c.convertConstant(e.X, program.Bool))
		then, otherwise := func() { c.move(out, c.convertConstant(e.Y, program.Bool)) }, func() {}
		if e.Op == token.LOR {
			then, otherwise = otherwise, then
		}
		c.when(out, then, otherwise)
		return out
	case comparisons[e.Op]:
		return c.comparison(e)
	}
	t := c.scalar(e, c.info.TypeOf(e))
	x := c.convertConstant(e.X, t)
	y := c.rightOperand(e.Y, e.Op, t)
	c.at = e.Pos()
	return c.arithmetic(e, e.Op, x, y)
}

// rightOperand compiles the right operand of an operator on the type t.
func (c *compiler) rightOperand(e ast.Expr, op token.Token, t program.Type) program.Operand {
	if op != token.SHL && op != token.SHR {
		return c.convertConstant(e, t)
	}
	if v := c.info.Types[e].Value; v != nil {
		n, exact := constant.Uint64Val(constant.ToInt(v))
		if !exact {
			n = math.MaxUint64
		}
		return program.Operand{Type: program.Uint64, Bits: n}
	}
	y := c.operand(e)
	if y.Type.IsSigned() {
		c.check(program.CheckShift, y.Type, "", y)
	}
	return y
}

var arithmeticOps = map[token.Token]program.Op{
	token.ADD: program.Add, token.SUB: program.Sub, token.MUL: program.Mul, token.QUO: program.Div, token.REM: program.Rem,
	token.AND: program.And, token.OR: program.Or, token.XOR: program.Xor, token.AND_NOT: program.AndNot, token.SHL: program.Shl, token.SHR: program.Shr,
}

// arithmetic returns x op y.
func (c *compiler) arithmetic(at ast.Node, op token.Token, x, y program.Operand) program.Operand {
	o, ok := arithmeticOps[op]
	if !ok {
		c.fail(at, "the operator %s is not supported in a kernel", op)
	}
	if (o == program.Div || o == program.Rem) && !x.Type.IsFloat() && (!y.IsConst() || y.Bits == 0) {
		c.check(program.CheckDivisor, y.Type, "", y)
	}
	return c.binary(o, x, y)
}

func (c *compiler) comparison(e *ast.BinaryExpr) value {
	t := c.subst(c.info.TypeOf(e.X))
	if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
		t = c.subst(c.info.TypeOf(e.Y))
	}
	s, ok := c.scalarType(t)
	if !ok {
		return c.compareAggregates(e)
	}
	x, y := c.convertConstant(e.X, s), c.convertConstant(e.Y, s)
	c.at = e.Pos()
	switch e.Op {
	case token.EQL:
		return c.op(program.Bool, program.Eq, s, x, y)
	case token.NEQ:
		return c.op(program.Bool, program.Ne, s, x, y)
	case token.LSS:
		return c.op(program.Bool, program.Lt, s, x, y)
	case token.LEQ:
		return c.op(program.Bool, program.Le, s, x, y)
	case token.GTR:
		return c.op(program.Bool, program.Lt, s, y, x)
	}
	return c.op(program.Bool, program.Le, s, y, x)
}

// compareAggregates compares two structs or arrays.
func (c *compiler) compareAggregates(e *ast.BinaryExpr) value {
	equal := c.newVar(program.Bool)
	c.move(equal, program.Operand{Type: program.Bool, Bits: 1})
	x := c.value(e.X)
	c.compare(e, equal, x, c.value(e.Y))
	if e.Op == token.NEQ {
		return c.op(program.Bool, program.Not, program.Bool, equal)
	}
	return equal
}

// compare sets equal to false if two values differ.
func (c *compiler) compare(e ast.Node, equal program.Operand, x, y value) {
	switch x := c.loaded(x).(type) {
	case program.Operand:
		c.move(equal, c.binary(program.And, equal, c.op(program.Bool, program.Eq, x.Type, x, c.loaded(y).(program.Operand))))
	case *structArray:
		for i, f := range x.fields {
			c.compare(e, equal, f, y.(*structArray).fields[i])
		}
	case *structure:
		for i, f := range x.fields {
			c.compare(e, equal, f, y.(*structure).fields[i])
		}
	case array:
		y := y.(array)
		_, n, _ := c.element(x.of)
		c.count(program.Int(n), func(i program.Operand) {
			a, b := c.load(x.memory, c.binary(program.Add, x.offset, i)), c.load(y.memory, c.binary(program.Add, y.offset, i))
			c.compare(e, equal, a, b)
		})
	default:
		c.fail(e, "a kernel can compare numbers, bools, and structs and arrays of them")
	}
}

func (c *compiler) unary(e *ast.UnaryExpr) value {
	switch e.Op {
	case token.ADD:
		return c.operand(e.X)
	case token.SUB:
		x := c.operand(e.X)
		return c.op(x.Type, program.Neg, x.Type, x)
	case token.NOT:
		return c.op(program.Bool, program.Not, program.Bool, c.operand(e.X))
	case token.XOR:
		x := c.operand(e.X)
		return c.op(x.Type, program.Complement, x.Type, x)
	case token.AND:
		c.fail(e, "a kernel can take an address only as an argument of kernel.Shared and of atomic functions")
	case token.ARROW:
		c.fail(e, "a kernel cannot use channels")
	}
	c.fail(e, "the operator %s is not supported in a kernel", e.Op)
	return nil
}

// convert converts a scalar.
func (c *compiler) convert(x program.Operand, to program.Type) program.Operand {
	if x.Type == to {
		return x
	}
	return c.op(to, program.Convert, x.Type, x)
}
