package compile

import (
	"go/ast"
	"go/types"
	"slices"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/vm"
)

// location is an addressable operand or a map element: something that can be assigned to. Making a location
// evaluates its operands; bounds checks and nil checks follow when it is read or assigned to.
type location struct {
	kind locationKind
	vm.Shape
	reg      uint16 // register of the variable, or of the address, slice or map
	offset   int32  // in bytes, after the address
	nonNil   bool   // the address is known not to be nil
	index    uint16 // register of the index
	unsigned bool   // the index is a uint64, which may be too large for an int
	key      operand
	access   *vm.MapAccess
}

type locationKind uint8

const (
	blank      locationKind = iota // the blank identifier
	inRegister                     // a variable that is not boxed
	inMemory
	inSliceElement
	inMapEntry
)

// locate returns the location of an expression that can be assigned to, or of a part of a value in memory.
func (c *compiler) locate(e ast.Expr) location {
	defer c.withPosition(e)()
	switch e := e.(type) {
	case *ast.ParenExpr:
		return c.locate(e.X)
	case *ast.Ident:
		if e.Name == "_" {
			return location{kind: blank}
		}
		o, ok := c.source.Info.ObjectOf(e).(*types.Var)
		if !ok {
			c.fail(e, "the name %s as a variable", e.Name)
		}
		v := c.variable(o)
		switch {
		case v == nil:
			return c.global(e, o)
		case v.boxed || v.File == vm.Memory:
			return location{kind: inMemory, Shape: v.Shape, reg: v.reg, nonNil: true}
		}
		return location{kind: inRegister, Shape: v.Shape, reg: v.reg}
	case *ast.StarExpr:
		x := c.expr(e.X, nil)
		return location{kind: inMemory, Shape: c.shapeOf(e), reg: x.reg}
	case *ast.SelectorExpr:
		return c.fieldLocation(e)
	case *ast.IndexExpr:
		return c.elementLocation(e)
	}
	// A value that is not a variable, such as the result of a call.
	x := c.expr(e, nil)
	if x.File != vm.Memory {
		c.fail(e, "a field or element of %T", e)
	}
	return location{kind: inMemory, Shape: x.Shape, reg: x.reg, offset: x.offset, nonNil: true}
}

// fieldLocation returns the location of x.f.
func (c *compiler) fieldLocation(e *ast.SelectorExpr) location {
	sel := c.source.Info.Selections[e]
	if sel == nil {
		if v, ok := c.source.Info.Uses[e.Sel].(*types.Var); ok {
			return c.global(e, v) // a variable of a package
		}
		c.fail(e, "the name %s", e.Sel.Name)
	}
	return c.field(e, e.X, sel.Index())
}

// field returns the location of the field of x at the end of a path.
func (c *compiler) field(n ast.Node, x ast.Expr, path []int) location {
	t := c.typeOf(x)
	var p location
	if _, pointer := t.Underlying().(*types.Pointer); pointer {
		v := c.expr(x, nil)
		p = location{kind: inMemory, Shape: v.Shape, reg: v.reg}
	} else {
		p = c.locate(x)
	}
	for i, f := range path {
		if pt, pointer := t.Underlying().(*types.Pointer); pointer {
			if i > 0 {
				v := c.get(p, nil)
				p = location{kind: inMemory, reg: v.reg}
			}
			t = pt.Elem()
		}
		p = c.inMemory(n, p)
		s, ok := t.Underlying().(*types.Struct)
		if !ok {
			c.fail(n, "a field of %s", t)
		}
		whole := c.shape(n, t)
		t = c.subst(s.Field(f).Type())
		p.offset += int32(whole.Type.Field(f).Offset)
		p.Shape = c.shape(n, t)
	}
	return p
}

// elementLocation returns the location of x[i].
func (c *compiler) elementLocation(e *ast.IndexExpr) location {
	t := c.typeOf(e.X).Underlying()
	switch t := t.(type) {
	case *types.Slice:
		x := c.expr(e.X, nil)
		i := c.expr(e.Index, nil)
		return location{kind: inSliceElement, Shape: c.shapeOf(e), reg: x.reg, index: i.reg, unsigned: isUint64(i)}
	case *types.Array:
		return c.arrayElement(e, c.locate(e.X), t)
	case *types.Pointer:
		x := c.expr(e.X, nil)
		a := t.Elem().Underlying().(*types.Array)
		return c.arrayElement(e, location{kind: inMemory, reg: x.reg}, a)
	case *types.Map:
		m := c.expr(e.X, nil)
		access := c.mapAccess(e, t)
		key := c.exprTo(e.Index, t.Key(), nil)
		return location{kind: inMapEntry, Shape: access.Elem, reg: m.reg, key: key, access: access}
	}
	c.fail(e, "an index of %s", t)
	return location{}
}

// arrayElement returns the location of an element of the array at p, after a bounds check.
func (c *compiler) arrayElement(e *ast.IndexExpr, p location, t *types.Array) location {
	p = c.inMemory(e, p)
	s := c.shapeOf(e)
	size := int64(s.Type.Size())
	if k, ok := c.smallConstant(e.Index); ok {
		if offset := int64(p.offset) + int64(k)*size; offset < 1<<30 {
			return location{kind: inMemory, Shape: s, reg: p.reg, offset: int32(offset), nonNil: p.nonNil}
		}
	}
	i := c.expr(e.Index, nil)
	base := p.reg
	if p.offset != 0 {
		base = c.checkedAddress(p)
	}
	return location{kind: inMemory, Shape: s, reg: c.arrayAddress(base, i, size, t.Len()), nonNil: true}
}

// arrayAddress returns a register with the address of an element of the array of the given length whose address is in base, after a
// bounds check. size is that of an element.
func (c *code) arrayAddress(base uint16, index operand, size, length int64) uint16 {
	at := c.referenceRegister()
	if size <= 1<<30 && length <= 1<<30 {
		c.emit(vm.OpAxAddr, at, base, index.reg, int32(size), int32(length))
		c.markIndex(isUint64(index))
		return at
	}
	number, unsigned := index.reg, isUint64(index)
	c.native("element of a large array", &vm.Native{Run: func(_ *vm.Thread, nb, sb unsafe.Pointer) {
		i, p := *vm.IntAt(nb, number), *vm.PointerAt(sb, base)
		switch {
		case p == nil:
			vm.PanicNil()
		case uint64(i) < uint64(length):
			*vm.PointerAt(sb, at) = unsafe.Add(p, i*size)
		case unsigned:
			rt.IndexUnsigned(uint64(i), int(length))
		default:
			rt.Index(int(i), int(length))
		}
	}})
	return at
}

// inMemory returns the location of the struct or array at p as an address and an offset. The entry of a map is read.
func (c *code) inMemory(n ast.Node, p location) location {
	switch p.kind {
	case inMemory:
		return p
	case inSliceElement:
		return location{kind: inMemory, reg: c.elementAddress(p), nonNil: true}
	case inMapEntry:
		x := c.get(p, nil)
		return location{kind: inMemory, Shape: x.Shape, reg: x.reg, offset: x.offset, nonNil: true}
	}
	c.fail(n, "a part of this expression")
	return location{}
}

// elementAddress returns the address of an element of a slice, after a bounds check.
func (c *code) elementAddress(p location) uint16 {
	at := c.referenceRegister()
	c.elementAddressTo(p, at)
	return at
}

func (c *code) elementAddressTo(p location, at uint16) {
	c.emit(vm.OpIxAddr, at, p.reg, p.index, int32(p.Type.Size()), 0)
	c.markIndex(p.unsigned)
}

// isUint64 reports whether an index may be too large for an int.
func isUint64(index operand) bool {
	return !isSigned(index.Type.Kind()) && index.Type.Size() == 8
}

// markIndex records whether the index of the last instruction is a uint64, so that an index error shows its
// value.
func (c *code) markIndex(unsigned bool) {
	if unsigned {
		c.fn.UnsignedIndexes = append(c.fn.UnsignedIndexes, int32(len(c.fn.Code)-1))
	}
}

// get reads a location.
func (c *code) get(p location, want *operand) operand {
	switch p.kind {
	case inRegister:
		return c.moveInto(operand{Shape: p.Shape, reg: p.reg}, want)
	case inMemory:
		if p.File == vm.Memory && !p.nonNil {
			// Go reads the value here, so a nil pointer must panic now.
			return operand{Shape: p.Shape, reg: c.checkedAddress(p)}
		}
		return c.load(p.Shape, p.reg, p.offset, want)
	case inSliceElement:
		if p.File == vm.Memory {
			return operand{Shape: p.Shape, reg: c.elementAddress(p)}
		}
		dst := c.destination(p.Shape, want)
		c.do(opNamed("Ix"+p.Width), dst.reg, p.reg, p.index)
		c.markIndex(p.unsigned)
		return dst
	case inMapEntry:
		return c.mapGet(p, nil, want)
	}
	panic(&UnsupportedError{Construct: "the value of the blank identifier"})
}

// getOnce reads a location that is not used again. Its operands have been evaluated by the instructions from index before on: if the last
// one loads s[i] of s[i][j], or the address of s[i] of s[i].f, it loads the element or field instead.
func (c *code) getOnce(p location, before int, want *operand) operand {
	last := len(c.fn.Code) - 1
	if last < before || slices.Contains(c.fn.UnsignedIndexes, int32(last)) {
		return c.get(p, want)
	}
	in := &c.fn.Code[last]
	if in.A != p.reg || p.File == vm.Memory {
		return c.get(p, want)
	}
	switch {
	case p.kind == inSliceElement && in.Op == vm.OpIxSl && !p.unsigned && (p.Width == "64" || p.Width == "8U"):
		dst := c.destination(p.Shape, want)
		*in = vm.Instruction{Op: opNamed("IxIx" + p.Width), A: dst.reg, B: in.B, C: in.C, K: int32(p.index)}
		return dst
	case p.kind == inMemory && in.Op == vm.OpIxAddr && (p.Width == "64" || p.Width == "P" || p.Width == "Str"):
		dst := c.destination(p.Shape, want)
		*in = vm.Instruction{Op: opNamed("IxLd" + p.Width), A: dst.reg, B: in.B, C: in.C, K: in.K, J: p.offset}
		return dst
	}
	return c.get(p, want)
}

// set assigns x to a location.
func (c *code) set(p location, x operand) {
	switch p.kind {
	case inRegister:
		c.move(operand{Shape: p.Shape, reg: p.reg}, x)
	case inMemory:
		c.store(p.reg, p.offset, x)
	case inSliceElement:
		if p.File == vm.Memory {
			c.store(c.elementAddress(p), 0, x)
			return
		}
		c.do(opNamed("Put"+storeWidth(p.Width)), p.reg, x.reg, p.index)
		c.markIndex(p.unsigned)
	case inMapEntry:
		c.mapSet(p, x)
	}
}

// selected compiles x.f if it is a method value or a name of a package. The second result is false for a
// field.
func (c *compiler) selected(e *ast.SelectorExpr, want *operand) (operand, bool) {
	if sel := c.source.Info.Selections[e]; sel != nil {
		switch sel.Kind() {
		case types.MethodVal:
			return c.methodValue(e, sel, want), true
		case types.MethodExpr:
			return c.methodExpression(e, sel, want), true
		}
		return operand{}, false
	}
	switch o := c.source.Info.Uses[e.Sel].(type) {
	case *types.Func:
		return c.functionValue(e, o, want), true
	case *types.Var:
		return c.get(c.global(e, o), want), true
	}
	return operand{}, false
}

// indexed compiles x[i] if x is a string, and reports whether it is.
func (c *compiler) indexed(e *ast.IndexExpr, want *operand) (operand, bool) {
	b, ok := c.typeOf(e.X).Underlying().(*types.Basic)
	if !ok || b.Info()&types.IsString == 0 {
		return operand{}, false
	}
	x := c.expr(e.X, nil)
	i := c.expr(e.Index, nil)
	dst := c.destination(c.shapeOf(e), want)
	c.do(vm.OpIx8U, dst.reg, x.reg, i.reg)
	c.markIndex(isUint64(i))
	return dst, true
}

// sliceExpr compiles x[low:high:max].
func (c *compiler) sliceExpr(e *ast.SliceExpr, want *operand) operand {
	result := c.shapeOf(e)
	t := c.typeOf(e.X).Underlying()
	var base uint16
	length := -1 // of an array
	if pt, ok := t.(*types.Pointer); ok {
		base = c.expr(e.X, nil).reg
		t = pt.Elem().Underlying()
		length = int(t.(*types.Array).Len())
	} else if a, ok := t.(*types.Array); ok {
		p := c.locate(e.X)
		p = c.inMemory(e, p)
		base, length = c.checkedAddress(p), int(a.Len())
	} else {
		base = c.expr(e.X, nil).reg
	}
	bound := func(x ast.Expr) vm.Bound {
		if x == nil {
			return vm.Bound{Reg: vm.NoRegister}
		}
		v := c.expr(x, nil)
		return vm.Bound{Reg: v.reg, Unsigned: isUint64(v)}
	}
	low, high, most := bound(e.Low), bound(e.High), bound(e.Max)
	dst := c.destination(result, want)
	if result.Width == "Str" {
		c.native("slice string", vm.SliceString(dst.reg, base, low, high))
	} else {
		c.native("slice", vm.SliceExpr(dst.reg, base, length, result.Type.Elem().Size(), low, high, most))
	}
	return dst
}
