package compile

import (
	"go/ast"
	"go/constant"
	"go/types"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// index returns the place of an element of a slice or array: an elementPlace, or an array.
func (c *compiler) index(e *ast.IndexExpr) place {
	t := c.subst(c.info.TypeOf(e.X))
	switch t.Underlying().(type) {
	case *types.Map:
		c.fail(e, "there are no maps on a GPU; use a slice or an array")
	case *types.Slice, *types.Array:
	default:
		c.fail(e, "an index of a %s is not supported in a kernel", types.TypeString(t, (*types.Package).Name))
	}
	of := c.value(e.X)
	i := c.indexOperand(e.Index)
	return c.elementPlaceOf(e, of, i, c.info.TypeOf(e), true)
}

// indexOperand compiles an index, as an Int64. One that does not fit an int is out of any range.
func (c *compiler) indexOperand(e ast.Expr) program.Operand {
	if v := c.info.Types[e].Value; v != nil {
		return c.constant(e, constant.ToInt(v), program.Int64)
	}
	return c.convert(c.operand(e), program.Int64) // a uint64 above 1<<63 becomes negative
}

// elementPlaceOf returns the place of element i, which has the type elem. check says that i may be out of range.
func (c *compiler) elementPlaceOf(at ast.Node, of value, i program.Operand, elem types.Type, check bool) place {
	var m *program.Memory
	var offset, length program.Operand
	words := c.words(elem)
	switch of := of.(type) {
	case slice:
		if of.memory == nil {
			c.fail(at, "the slice is nil")
		}
		m, offset, length = of.memory, of.offset, of.length
	case array:
		m, offset, length = of.memory, of.offset, program.Int(int(of.of.Len()))
	default:
		c.fail(at, "an index is not supported here in a kernel")
	}
	if check && !(i.IsConst() && length.IsConst() && i.Bits < length.Bits) {
		c.check(program.CheckIndex, program.Int64, m.Name, i, length)
	}
	k := i
	if words != 1 {
		k = c.binary(program.Mul, i, program.Int(words))
	}
	if !(offset.IsConst() && offset.Bits == 0) {
		k = c.binary(program.Add, offset, k)
	} else {
		k = c.temporary(k)
	}
	if a, ok := c.subst(elem).Underlying().(*types.Array); ok {
		return array{m, k, a}
	}
	return elementPlace{m, k}
}

// elementOf returns element i of a slice or array.
func (c *compiler) elementOf(at ast.Node, of value, i program.Operand, elem types.Type, check bool) value {
	p := c.elementPlaceOf(at, of, i, elem, check)
	if p, ok := p.(elementPlace); ok {
		return c.load(p.memory, p.at)
	}
	return p
}

// sliceValue compiles an expression whose value is a slice.
func (c *compiler) sliceValue(e ast.Expr) slice {
	s, ok := c.value(e).(slice)
	if !ok {
		c.fail(e, "this slice is not supported in a kernel")
	}
	if s.memory == nil {
		c.fail(e, "the slice is nil")
	}
	return s
}

func (c *compiler) sliceExpr(e *ast.SliceExpr) value {
	var from slice
	switch x := c.value(e.X).(type) {
	case slice:
		from = x
	case array:
		if c.words(x.of.Elem()) != 1 {
			c.fail(e, "a slice of arrays is not supported in a kernel")
		}
		n := program.Int(int(x.of.Len()))
		from = slice{x.memory, x.offset, n, n}
	default:
		c.fail(e, "this slice expression is not supported in a kernel")
	}
	if from.memory == nil {
		c.fail(e, "the slice is nil")
	}
	low, high, limit := program.Int(0), from.length, from.capacity
	if e.Low != nil {
		low = c.indexOperand(e.Low)
	}
	if e.High != nil {
		high = c.indexOperand(e.High)
	}
	if e.Max != nil {
		limit = c.indexOperand(e.Max)
		c.check(program.CheckSlice, program.Int64, from.memory.Name, high, limit, from.capacity)
	}
	c.check(program.CheckSlice, program.Int64, from.memory.Name, low, high, limit)
	return slice{
		from.memory, c.binary(program.Add, from.offset, low),
		c.binary(program.Sub, high, low), c.binary(program.Sub, limit, low),
	}
}
