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
	length := c.lengthOf(at, of)
	if check && !(i.IsConst() && length.IsConst() && i.Bits < length.Bits) {
		c.check(program.CheckIndex, program.Int64, nameOf(of), i, length)
	}
	return c.elementAt(of, i, elem)
}

// lengthOf returns the number of elements of a slice or array.
func (c *compiler) lengthOf(at ast.Node, of value) program.Operand {
	switch of := of.(type) {
	case slice:
		if of.of.empty() {
			c.fail(at, "the slice is nil")
		}
		return of.length
	case array:
		return program.Int(int(of.of.Len()))
	case *structArray:
		return program.Int(int(of.of.Len()))
	}
	c.fail(at, "an index is not supported here in a kernel")
	return program.Operand{}
}

// nameOf returns the name of a slice or array, for faults.
func nameOf(of value) string {
	switch of := of.(type) {
	case slice:
		return of.of.name()
	case *structArray:
		return of.name
	}
	return of.(array).memory.Name
}

// firstMemory returns a memory of an array; nil if it has none.
func firstMemory(x value) *program.Memory {
	switch x := x.(type) {
	case array:
		return x.memory
	case *structArray:
		for _, f := range x.fields {
			if m := firstMemory(f); m != nil {
				return m
			}
		}
	}
	return nil
}

// elementAt returns the place of element i of a slice or array, which exists.
func (c *compiler) elementAt(of value, i program.Operand, elem types.Type) place {
	elem = c.subst(elem)
	switch of := of.(type) {
	case slice:
		if of.of.structs != nil {
			return c.elementAt(of.of.structs, c.binary(program.Add, of.offset, i), elem)
		}
		return c.elementIn(of.of.memory, of.offset, i, elem)
	case *structArray:
		i = c.temporary(i)
		var fields []value
		for _, f := range of.fields {
			var inner types.Type
			switch f := f.(type) {
			case array:
				inner = f.of.Elem()
			case *structArray:
				inner = f.of.Elem()
			}
			fields = append(fields, c.elementAt(f, i, inner))
		}
		if a, ok := elem.Underlying().(*types.Array); ok {
			return &structArray{of.name, fields, a}
		}
		return &structure{fields}
	}
	a := of.(array)
	return c.elementIn(a.memory, a.offset, i, elem)
}

// elementIn returns the place of element i from an offset in a memory.
func (c *compiler) elementIn(m *program.Memory, offset, i program.Operand, elem types.Type) place {
	k := i
	if words := c.words(elem); words != 1 {
		k = c.binary(program.Mul, i, program.Int(words))
	}
	if !(offset.IsConst() && offset.Bits == 0) {
		k = c.binary(program.Add, offset, k)
	} else {
		k = c.temporary(k)
	}
	if a, ok := elem.Underlying().(*types.Array); ok {
		return array{m, k, a}
	}
	return elementPlace{m, k}
}

// elementOf returns element i of a slice or array.
func (c *compiler) elementOf(at ast.Node, of value, i program.Operand, elem types.Type, check bool) value {
	return c.loaded(c.elementPlaceOf(at, of, i, elem, check))
}

// sliceValue compiles an expression whose value is a slice.
func (c *compiler) sliceValue(e ast.Expr) slice {
	s, ok := c.value(e).(slice)
	if !ok {
		c.fail(e, "this slice is not supported in a kernel")
	}
	if s.of.empty() {
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
		n := program.Int(int(x.of.Len()))
		from = slice{&backing{memory: x.memory}, x.offset, n, n}
	case *structArray:
		n := program.Int(int(x.of.Len()))
		from = slice{&backing{structs: x}, program.Int(0), n, n}
	default:
		c.fail(e, "this slice expression is not supported in a kernel")
	}
	if from.of.empty() {
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
		c.check(program.CheckSlice, program.Int64, from.of.name(), high, limit, from.capacity)
	}
	c.check(program.CheckSlice, program.Int64, from.of.name(), low, high, limit)
	begin := low
	if from.of.memory != nil {
		if words := c.words(elemOf(c.subst(c.info.TypeOf(e)))); words != 1 {
			begin = c.binary(program.Mul, low, program.Int(words))
		}
	}
	return slice{
		from.of, c.binary(program.Add, from.offset, begin),
		c.binary(program.Sub, high, low), c.binary(program.Sub, limit, low),
	}
}

// elemOf returns the type of the elements of a slice.
func elemOf(t types.Type) types.Type { return t.Underlying().(*types.Slice).Elem() }
