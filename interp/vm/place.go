package vm

import (
	"go/ast"
	"go/types"
	"unsafe"
)

// place is something that can be assigned to. Making one evaluates its operands;
// what can panic, panics when it is read or assigned to.
type place struct {
	kind placeKind
	shape
	at     uint16 // the variable's register, or that of the address, slice or map
	offset int32  // behind the address
	sure   bool   // the address is not nil
	index  uint16 // the register of the index
	huge   bool   // the index may be no int
	key    operand
	mapped *mapAccess
}

type placeKind uint8

const (
	nowhere    placeKind = iota // the blank identifier
	inRegister                  // a variable that is not boxed
	inMemory
	inElement // of a slice
	inMap
)

// locate finds the place of an expression that can be assigned to, or of a part
// of a value in memory.
func (c *compiler) locate(e ast.Expr) place {
	defer c.within(e)()
	switch e := e.(type) {
	case *ast.ParenExpr:
		return c.locate(e.X)
	case *ast.Ident:
		if e.Name == "_" {
			return place{kind: nowhere}
		}
		o, ok := c.source.Info.ObjectOf(e).(*types.Var)
		if !ok {
			c.fail(e, "the name %s as a variable", e.Name)
		}
		v := c.variable(o)
		switch {
		case v == nil:
			return c.global(e, o)
		case v.boxed || v.file == memory:
			return place{kind: inMemory, shape: v.shape, at: v.at, sure: true}
		}
		return place{kind: inRegister, shape: v.shape, at: v.at}
	case *ast.StarExpr:
		x := c.expr(e.X, nil)
		return place{kind: inMemory, shape: c.shapeOf(e), at: x.at}
	case *ast.SelectorExpr:
		return c.fieldPlace(e)
	case *ast.IndexExpr:
		return c.elementPlace(e)
	}
	// A value that is not a variable, such as the result of a call.
	x := c.expr(e, nil)
	if x.file != memory {
		c.fail(e, "a part of %T", e)
	}
	return place{kind: inMemory, shape: x.shape, at: x.at, offset: x.offset, sure: true}
}

// fieldPlace returns the place of x.f.
func (c *compiler) fieldPlace(e *ast.SelectorExpr) place {
	sel := c.source.Info.Selections[e]
	if sel == nil {
		if v, ok := c.source.Info.Uses[e.Sel].(*types.Var); ok {
			return c.global(e, v) // of a package
		}
		c.fail(e, "the name %s", e.Sel.Name)
	}
	if sel.Kind() != types.FieldVal {
		c.fail(e, "a method as a value")
	}
	return c.field(e, e.X, sel.Index())
}

// field follows a path of fields from x.
func (c *compiler) field(n ast.Node, x ast.Expr, path []int) place {
	t := c.typeOf(x)
	var p place
	if _, pointer := t.Underlying().(*types.Pointer); pointer {
		v := c.expr(x, nil)
		p = place{kind: inMemory, shape: v.shape, at: v.at}
	} else {
		p = c.locate(x)
	}
	for i, f := range path {
		if pt, pointer := t.Underlying().(*types.Pointer); pointer {
			if i > 0 {
				v := c.get(p, nil)
				p = place{kind: inMemory, at: v.at}
			}
			t = pt.Elem()
		}
		if p.kind == inElement {
			p = place{kind: inMemory, at: c.elementAddress(p), sure: true}
		}
		if p.kind != inMemory {
			c.fail(n, "a field of this")
		}
		s, ok := t.Underlying().(*types.Struct)
		if !ok {
			c.fail(n, "a field of %s", t)
		}
		whole := c.shape(n, t)
		t = c.subst(s.Field(f).Type())
		p.offset += int32(whole.typ.Field(f).Offset)
		p.shape = c.shape(n, t)
	}
	return p
}

// elementPlace returns the place of x[i].
func (c *compiler) elementPlace(e *ast.IndexExpr) place {
	t := c.typeOf(e.X).Underlying()
	switch t := t.(type) {
	case *types.Slice:
		x := c.expr(e.X, nil)
		i := c.expr(e.Index, nil)
		return place{kind: inElement, shape: c.shapeOf(e), at: x.at, index: i.at, huge: huge(i)}
	case *types.Array:
		return c.arrayElement(e, c.locate(e.X), t)
	case *types.Pointer:
		x := c.expr(e.X, nil)
		a := t.Elem().Underlying().(*types.Array)
		return c.arrayElement(e, place{kind: inMemory, at: x.at}, a)
	case *types.Map:
		m := c.expr(e.X, nil)
		access := c.mapAccess(e, t)
		key := c.exprTo(e.Index, t.Key(), nil)
		return place{kind: inMap, shape: access.elem, at: m.at, key: key, mapped: access}
	}
	c.fail(e, "an index of %s", t)
	return place{}
}

// arrayElement returns the place of an element of the array at p. Its index is
// checked now.
func (c *compiler) arrayElement(e *ast.IndexExpr, p place, t *types.Array) place {
	if p.kind == inElement {
		p = place{kind: inMemory, at: c.elementAddress(p), sure: true}
	}
	if p.kind != inMemory {
		c.fail(e, "an element of this")
	}
	s := c.shapeOf(e)
	size := int64(s.typ.Size())
	if t.Len() > 1<<30 || size > 1<<30 {
		c.fail(e, "an array of this size")
	}
	if k, ok := c.small(e.Index); ok {
		if offset := int64(p.offset) + int64(k)*size; offset < 1<<30 {
			return place{kind: inMemory, shape: s, at: p.at, offset: int32(offset), sure: p.sure}
		}
	}
	i := c.expr(e.Index, nil)
	base := p.at
	if p.offset != 0 {
		base = c.check(p)
	}
	at := c.referenceRegister()
	c.emit(opAxAddr, at, base, i.at, int32(size), int32(t.Len()))
	c.noteIndex(huge(i))
	return place{kind: inMemory, shape: s, at: at, sure: true}
}

// elementAddress returns the address of an element of a slice, which must exist.
func (c *compiler) elementAddress(p place) uint16 {
	at := c.referenceRegister()
	c.emit(opIxAddr, at, p.at, p.index, int32(p.typ.Size()), 0)
	c.noteIndex(p.huge)
	return at
}

// huge reports whether an index may be too large for an int.
func huge(index operand) bool {
	return !isSigned(index.typ.Kind()) && index.typ.Size() == 8
}

// noteIndex notes of the last instruction whether its index may be too large for an
// int: the error tells it as it is.
func (c *compiler) noteIndex(huge bool) {
	if huge {
		c.fn.huge = append(c.fn.huge, int32(len(c.fn.code)-1))
	}
}

// get reads a place.
func (c *compiler) get(p place, want *operand) operand {
	switch p.kind {
	case inRegister:
		return c.settle(operand{shape: p.shape, at: p.at}, want)
	case inMemory:
		if p.file == memory && !p.sure {
			// Go reads it, so that a nil pointer panics now.
			return operand{shape: p.shape, at: c.check(p)}
		}
		return c.load(p.shape, p.at, p.offset, want)
	case inElement:
		if p.file == memory {
			return operand{shape: p.shape, at: c.elementAddress(p)}
		}
		dst := c.destination(p.shape, want)
		c.do(opNamed("Ix"+p.width), dst.at, p.at, p.index)
		c.noteIndex(p.huge)
		return dst
	case inMap:
		return c.mapGet(p, nil, want)
	}
	panic(unsupported{nil, "a value of the blank identifier"})
}

// set assigns x to a place.
func (c *compiler) set(p place, x operand) {
	switch p.kind {
	case inRegister:
		c.move(operand{shape: p.shape, at: p.at}, x)
	case inMemory:
		c.store(p.at, p.offset, x)
	case inElement:
		if p.file == memory {
			c.store(c.elementAddress(p), 0, x)
			return
		}
		c.do(opNamed("Put"+storeWidth(p.width)), p.at, x.at, p.index)
		c.noteIndex(p.huge)
	case inMap:
		c.mapSet(p, x)
	}
}

// selected compiles x.f where x is a package and f is no variable of it.
func (c *compiler) selected(e *ast.SelectorExpr, want *operand) (operand, bool) {
	if sel := c.source.Info.Selections[e]; sel != nil {
		if sel.Kind() == types.MethodVal {
			return c.methodValue(e, sel, want), true
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

// indexed compiles x[i] where x is a string.
func (c *compiler) indexed(e *ast.IndexExpr, want *operand) (operand, bool) {
	b, ok := c.typeOf(e.X).Underlying().(*types.Basic)
	if !ok || b.Info()&types.IsString == 0 {
		return operand{}, false
	}
	x := c.expr(e.X, nil)
	i := c.expr(e.Index, nil)
	dst := c.destination(c.shapeOf(e), want)
	c.do(opIx8U, dst.at, x.at, i.at)
	c.noteIndex(huge(i))
	return dst, true
}

// The native functions that a slice expression needs.

const none = ^uint16(0)

// sliceExpr compiles x[low:high:max].
func (c *compiler) sliceExpr(e *ast.SliceExpr, want *operand) operand {
	result := c.shapeOf(e)
	t := c.typeOf(e.X).Underlying()
	var base uint16
	length := -1 // of an array
	if pt, ok := t.(*types.Pointer); ok {
		base = c.expr(e.X, nil).at
		t = pt.Elem().Underlying()
		length = int(t.(*types.Array).Len())
	} else if a, ok := t.(*types.Array); ok {
		p := c.locate(e.X)
		if p.kind == inElement {
			p = place{kind: inMemory, at: c.elementAddress(p), sure: true}
		}
		if p.kind != inMemory {
			c.fail(e, "a slice of this")
		}
		base, length = c.check(p), int(a.Len())
	} else {
		base = c.expr(e.X, nil).at
	}
	bound := func(x ast.Expr) uint16 {
		if x == nil {
			return none
		}
		v := c.expr(x, nil)
		if huge(v) && c.source.Info.Types[x].Value == nil {
			c.fail(e, "a slice with a bound of type %s", v.typ)
		}
		return v.at
	}
	low, high, most := bound(e.Low), bound(e.High), bound(e.Max)
	dst := c.destination(result, want)
	at := dst.at
	if result.width == "Str" {
		c.native("slice string", &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
			s := *text(sb, base)
			from, to := 0, len(s)
			if low != none {
				from = int(*integer(nb, low))
			}
			if high != none {
				to = int(*integer(nb, high))
			}
			*text(sb, at) = s[from:to]
		}})
		return dst
	}
	size := result.typ.Elem().Size()
	c.native("slice", &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
		var h header
		if length >= 0 {
			h = header{*pointer(sb, base), length, length}
			if h.p == nil {
				panicNil()
			}
		} else {
			h = *slice(sb, base)
		}
		*slice(sb, at) = reslice(h, bounds(nb, low), bounds(nb, high), bounds(nb, most), size, length >= 0)
	}})
	return dst
}
