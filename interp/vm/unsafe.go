package vm

// Conversions from and to unsafe.Pointer, and the functions of package unsafe. They mean what they mean in compiled Go, since
// values in memory have its layout. Only the first word of the interfaces of cells that have methods differs.

import (
	"go/ast"
	"go/types"
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
)

// convertPointer compiles the conversion e, of which one type is unsafe.Pointer.
func (c *compiler) convertPointer(e *ast.CallExpr, from, to shape, want *operand) operand {
	x := e.Args[0]
	for _, t := range []types.Type{c.typeOf(x), c.typeOf(e)} {
		if p, ok := t.Underlying().(*types.Pointer); ok && c.beginsWithTable(p.Elem()) && !c.readsData(e) {
			panic(&UnsupportedError{Node: e, Construct: "a conversion between " + typeText(c.typeOf(x)) + " and " + typeText(c.typeOf(e)),
				Hint: "interfaces of cells with methods have no method table"})
		}
	}
	switch {
	case from.width == "P" && to.width == "P" && from.typ.Kind() != reflect.Func && to.typ.Kind() != reflect.Func:
		v := c.moveInto(c.expr(x, want), want)
		v.shape = to
		return v
	case to.typ.Kind() == reflect.Uintptr:
		i, ok := c.facts.Addresses[e]
		if !ok || i >= len(c.addresses) {
			c.fail(e, "an address in the body of a range over a function")
		}
		v := c.expr(x, nil)
		dst := c.destination(to, want)
		at, pointer, kept := dst.reg, v.reg, c.addresses[i]
		c.native("convert to uintptr", &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
			p := *pointerAt(sb, pointer)
			*pointerAt(sb, kept) = p
			*intAt(nb, at) = int64(uintptr(p))
		}})
		return dst
	case from.typ.Kind() == reflect.Uintptr:
		v := c.expr(x, nil)
		dst := c.destination(to, want)
		at, number := dst.reg, v.reg
		c.native("convert to unsafe.Pointer", &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
			*pointerAt(sb, at) = *(*unsafe.Pointer)(unsafe.Pointer(intAt(nb, number)))
		}})
		return dst
	}
	c.fail(e, "a conversion from %s to %s", from.typ, to.typ)
	return operand{}
}

// readsData reports whether e is the conversion to unsafe.Pointer in (*header)(unsafe.Pointer(&i)).data or
// (*[2]uintptr)(unsafe.Pointer(&i))[1]: the second word is as in compiled Go.
func (c *compiler) readsData(e *ast.CallExpr) (reads bool) {
	ast.Inspect(c.unit.body, func(n ast.Node) bool {
		var cast ast.Expr
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if sel := c.source.Info.Selections[n]; sel != nil && len(sel.Index()) == 1 && sel.Index()[0] == 1 {
				cast = n.X
			}
		case *ast.IndexExpr:
			if i, ok := c.smallConstant(n.Index); ok && i == 1 {
				cast = n.X
			}
		}
		if cast == nil {
			return !reads
		}
		if star, ok := ast.Unparen(cast).(*ast.StarExpr); ok {
			cast = star.X
		}
		call, ok := ast.Unparen(cast).(*ast.CallExpr)
		reads = reads || ok && len(call.Args) == 1 && ast.Unparen(call.Args[0]) == e
		return !reads
	})
	return reads
}

func typeText(t types.Type) string { return types.TypeString(t, (*types.Package).Name) }

// beginsWithTable reports whether compiled Go has a method table at the beginning of values of a type where cells have a type: the value
// of an interface of a cell that has methods.
func (c *code) beginsWithTable(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return c.isErased(t) && u.NumMethods() > 0
	case *types.Array:
		return u.Len() > 0 && c.beginsWithTable(u.Elem())
	case *types.Struct:
		return u.NumFields() > 0 && c.beginsWithTable(u.Field(0).Type())
	}
	return false
}

// maxAddresses limits the slots of a function for pointers that it converts to uintptr.
const maxAddresses = 200

// reserveAddresses reserves slots for the pointers that a function converts to uintptr. Compiled Go keeps these alive during the
// call that has the number as an argument, such as a system call; here they remain until the function returns.
func (c *compiler) reserveAddresses(n ast.Node) {
	if len(c.facts.Addresses) > maxAddresses {
		c.fail(n, "many conversions from unsafe.Pointer to uintptr")
	}
	for range len(c.facts.Addresses) {
		c.addresses = append(c.addresses, c.referenceRegister())
	}
}

// unsafe compiles the call of a function of package unsafe.
func (c *compiler) unsafe(e *ast.CallExpr, name string, want *operand) operand {
	s := c.shapeOf(e)
	x := c.expr(e.Args[0], nil)
	from, count := x.reg, noRegister
	if len(e.Args) == 2 {
		count = c.expr(e.Args[1], nil).reg
	}
	dst := c.destination(s, want)
	at := dst.reg
	var run func(_ *thread, nb, sb unsafe.Pointer)
	switch name {
	case "Add":
		run = func(_ *thread, nb, sb unsafe.Pointer) {
			*pointerAt(sb, at) = unsafe.Add(*pointerAt(sb, from), *intAt(nb, count))
		}
	case "SliceData":
		run = func(_ *thread, _, sb unsafe.Pointer) { *pointerAt(sb, at) = sliceAt(sb, from).data }
	case "StringData":
		run = func(_ *thread, _, sb unsafe.Pointer) {
			*pointerAt(sb, at) = unsafe.Pointer(unsafe.StringData(*stringAt(sb, from)))
		}
	case "String":
		run = func(_ *thread, nb, sb unsafe.Pointer) {
			*stringAt(sb, at) = rt.UnsafeString((*byte)(*pointerAt(sb, from)), int(*intAt(nb, count)))
		}
	case "Slice":
		size := s.typ.Elem().Size()
		run = func(_ *thread, nb, sb unsafe.Pointer) {
			p, n := *pointerAt(sb, from), int(*intAt(nb, count))
			rt.CheckUnsafeSlice(p, size, n)
			*sliceAt(sb, at) = sliceHeader{p, n, n}
		}
	}
	c.native("unsafe."+name, &native{run: run})
	return dst
}
