package vm

import (
	"go/ast"
	"go/types"
)

// callFrame is the frame of a function to be called. Its first registers hold the arguments.
type callFrame struct {
	scalarOffset, slotOffset uint16 // of the frame in the register files, in bytes
	mark                     mark
	parameters               []operand
	borrows                  bool // the called function copies the variables that are lent to it; see ownParameters
	lent                     bool // there is such a variable
}

func (c *code) beginFrame() *callFrame {
	return &callFrame{scalarOffset: uint16(c.scalarsInUse * 8), slotOffset: uint16(c.slotsInUse * int(slotSize)), mark: c.mark()}
}

// beginCall begins the frame of a call of a function that borrows its arguments.
func (c *compiler) beginCall(e ast.Node) *callFrame {
	b := c.beginFrame()
	b.borrows = !c.isDeferred(e)
	return b
}

// argument compiles the next argument of a call, of type t. If it is not the last one with a call, its variable may change before the call.
func (c *code) argument(b *callFrame, n ast.Node, t types.Type, last bool, compile func(want *operand) operand) {
	s := c.shape(n, t)
	to := c.temporary(s)
	m := c.mark()
	x := compile(&to)
	if s.file == memory && b.borrows && last && !x.owned {
		c.move(to, x)
		b.lent = true
	} else if s.file == memory {
		c.own(x, &to)
	} else {
		c.moveInto(x, &to)
	}
	c.release(m)
	b.parameters = append(b.parameters, to)
}

// arguments compiles the arguments of a call.
func (c *compiler) arguments(b *callFrame, e *ast.CallExpr, sig *types.Signature) {
	params := sig.Params()
	n := params.Len()
	if len(e.Args) == 1 && n != 0 {
		if tuple, ok := c.source.Info.Types[e.Args[0]].Type.(*types.Tuple); ok {
			c.spreadCall(b, e, sig, tuple)
			return
		}
	}
	variadic := sig.Variadic() && !e.Ellipsis.IsValid()
	for i := range n {
		t := c.subst(params.At(i).Type())
		if variadic && i == n-1 {
			c.argument(b, e, t, true, func(want *operand) operand {
				return c.variadicSlice(e, e.Args[n-1:], t, want)
			})
			continue
		}
		x := e.Args[i]
		c.argument(b, x, t, b.borrows && !c.anyHasCalls(e.Args[i+1:]), func(want *operand) operand { return c.exprTo(x, t, want) })
	}
}

// variadicSlice makes the slice of the variadic arguments.
func (c *compiler) variadicSlice(e *ast.CallExpr, list []ast.Expr, t types.Type, want *operand) operand {
	s := c.shape(e, t)
	if len(list) == 0 {
		dst := c.destination(s, want)
		c.do(opNil, dst.reg, 0, 0)
		return dst
	}
	dst := c.temporary(s)
	at, typ := dst.reg, s.typ
	c.makeElements(typ, at, len(list))
	elem := t.Underlying().(*types.Slice).Elem()
	for i, x := range list {
		m := c.mark()
		c.store(at, int32(i)*int32(typ.Elem().Size()), c.exprTo(x, elem, nil))
		c.release(m)
	}
	return c.moveInto(dst, want)
}

// spreadCall compiles the arguments of f(g()), where g has several results.
func (c *compiler) spreadCall(b *callFrame, e *ast.CallExpr, sig *types.Signature, tuple *types.Tuple) {
	inner, ok := ast.Unparen(e.Args[0]).(*ast.CallExpr)
	if !ok {
		c.fail(e, "several values as arguments")
	}
	// The results of g are where the arguments begin: move them away.
	results := c.compileCall(inner)
	moved := make([]operand, len(results))
	for i, r := range results {
		moved[i] = c.temporary(r.shape)
		moved[i].owned = r.owned
		c.move(moved[i], r)
	}
	receivers := b.parameters
	*b = callFrame{scalarOffset: uint16(c.scalarsInUse * 8), slotOffset: uint16(c.slotsInUse * int(slotSize)), mark: b.mark}
	for _, r := range receivers {
		to := c.temporary(r.shape)
		c.move(to, r)
		b.parameters = append(b.parameters, to)
	}
	for i := range sig.Params().Len() {
		t := c.subst(sig.Params().At(i).Type())
		if sig.Variadic() && i == sig.Params().Len()-1 {
			c.argument(b, e, t, false, func(want *operand) operand { return c.spreadVariadic(e, moved, tuple, i, t, want) })
			break
		}
		from := c.subst(tuple.At(i).Type())
		c.argument(b, e, t, false, func(want *operand) operand { return c.converted(e, moved[i], from, t, want) })
	}
}

// spreadVariadic makes the slice of the variadic arguments from the results, beginning with index first.
func (c *compiler) spreadVariadic(e *ast.CallExpr, results []operand, tuple *types.Tuple, first int, t types.Type, want *operand) operand {
	s := c.shape(e, t)
	dst := c.temporary(s)
	if first >= len(results) {
		c.do(opNil, dst.reg, 0, 0)
		return c.moveInto(dst, want)
	}
	at, typ := dst.reg, s.typ
	c.makeElements(typ, at, len(results)-first)
	elem := t.Underlying().(*types.Slice).Elem()
	for i, x := range results[first:] {
		m := c.mark()
		v := c.converted(e, x, c.subst(tuple.At(first+i).Type()), elem, nil)
		c.store(at, int32(i)*int32(typ.Elem().Size()), v)
		c.release(m)
	}
	return c.moveInto(dst, want)
}

// converted converts a value as an assignment does.
func (c *code) converted(n ast.Node, x operand, from, to types.Type, want *operand) operand {
	if types.IsInterface(to) {
		if types.IsInterface(from) {
			return c.betweenInterfaces(n, x, from, to, want)
		}
		return c.toInterface(n, x, from, to, want)
	}
	return c.moveInto(x, want)
}
