package vm

import (
	"go/ast"
	"go/types"
)

// callMethod compiles the call of a method.
func (c *compiler) callMethod(e *ast.CallExpr, x *ast.SelectorExpr, sel *types.Selection, sig *types.Signature) []operand {
	m, path := c.method(x, sel)
	return c.callMethodAt(e, x, m, path, sig)
}

// callMethodAt compiles the call of the method m. path leads from x.X to its receiver.
func (c *compiler) callMethodAt(e *ast.CallExpr, x *ast.SelectorExpr, m *types.Func, path []int, sig *types.Signature) []operand {
	if types.IsInterface(c.typeOf(x.X)) || types.IsInterface(m.Signature().Recv().Type()) {
		return c.callInterface(e, x, m, path, sig)
	}
	recv := m.Signature().Recv().Type()
	f := c.methodFunction(x, m)
	if f == nil {
		return c.callCompiledMethod(e, x, m, path, sig)
	}
	b := c.methodFrame(e, x, path, recv, !c.isDeferred(e))
	c.arguments(b, e, sig)
	return c.callDirect(b, f, sig, e)
}

// methodFrame begins the frame of a method of a receiver of type recv and compiles the receiver into it. borrows says whether the method
// borrows its arguments.
func (c *compiler) methodFrame(e *ast.CallExpr, x *ast.SelectorExpr, path []int, recv types.Type, borrows bool) *callFrame {
	last := borrows && !c.anyHasCalls(e.Args)
	begin := func() *callFrame {
		b := c.beginFrame()
		b.borrows = borrows
		return b
	}
	if _, chain := ast.Unparen(x.X).(*ast.CallExpr); chain {
		// Before the frame begins: the frames of a chain of calls would be inside of each other.
		v := c.receiver(x, path, recv, nil)
		b := begin()
		c.argument(b, e, recv, last, func(*operand) operand { return v })
		return b
	}
	b := begin()
	c.argument(b, e, recv, last, func(want *operand) operand { return c.receiver(x, path, recv, want) })
	return b
}

// receiver compiles x to the receiver of a method whose receiver has the type recv. path leads to it
// through embedded fields.
func (c *compiler) receiver(x *ast.SelectorExpr, path []int, recv types.Type, want *operand) operand {
	t := c.typeOf(x.X)
	_, byPointer := types.Unalias(recv).(*types.Pointer)
	var at types.Type = t
	if len(path) > 0 {
		at = c.pathType(t, path)
	}
	_, isPointer := at.Underlying().(*types.Pointer)
	if len(path) == 0 && isPointer == byPointer {
		return c.expr(x.X, want)
	}
	var p location
	if len(path) > 0 {
		p = c.field(x, x.X, path)
	} else if isPointer {
		v := c.expr(x.X, nil)
		s := c.shape(x, at.Underlying().(*types.Pointer).Elem())
		return c.get(location{kind: inMemory, shape: s, reg: v.reg}, want)
	} else {
		p = c.locate(x.X)
	}
	switch {
	case isPointer == byPointer:
		return c.get(p, want)
	case byPointer:
		receiver := operand{shape: c.shape(x, recv)}
		switch p.kind {
		case inSliceElement:
			receiver.reg = c.elementAddress(p)
		case inMemory:
			receiver.reg = c.checkedAddress(p)
		default:
			c.fail(x, "the address of the receiver")
		}
		return receiver
	}
	v := c.get(p, nil)
	s := c.shape(x, at.Underlying().(*types.Pointer).Elem())
	return c.get(location{kind: inMemory, shape: s, reg: v.reg}, want)
}

// pathType returns the type at the end of a path of fields.
func (c *compiler) pathType(t types.Type, path []int) types.Type {
	for _, f := range path {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		t = c.subst(t.Underlying().(*types.Struct).Field(f).Type())
	}
	return t
}
