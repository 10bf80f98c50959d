package vm

import (
	"go/ast"
	"go/types"
	"reflect"
	"unsafe"
)

// isErased reports whether an interface type is interface{} in lowered code.
func (c *code) isErased(t types.Type) bool {
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return c.vm.config.Interpreted(n) || n.Obj().Pkg() == nil && n.Obj().Name() != "error"
	}
	return true
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

func isEmptyInterface(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.NumMethods() == 0
}

// toInterface converts a value that is not an interface to an interface type. Values of types of cells go
// into a box.
func (c *code) toInterface(n ast.Node, x operand, from, to types.Type, want *operand) operand {
	if b, ok := from.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
		from = types.Default(from)
	}
	registry := c.vm.config.Registry
	if registry == nil {
		c.fail(n, "a conversion to an interface")
	}
	s := c.shape(n, from)
	target := c.shape(n, to)
	boxed := registry.Mentions(from)
	if _, function := from.(*types.Signature); boxed && !function && !c.methodsKnown(from) { // may have methods of embedded types
		c.fail(n, "an interface value of %s", from)
	}
	pack := c.vm.pack(s, x.owned && x.offset == 0)
	x.reg, x.offset = c.addressIfMemory(x), 0
	dst := c.destination(target, want)
	at, v, typ := dst.reg, x.reg, target.typ
	switch {
	case !boxed && (c.isErased(to) || isEmptyInterface(to)):
		c.native("any("+s.typ.String()+")", &native{run: anyOf(s, at, v)})
	case !boxed:
		if !s.typ.Implements(typ) {
			c.fail(n, "a conversion to %s", to)
		}
		c.native(typ.String()+"("+s.typ.String()+")", &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
			reflect.NewAt(typ, unsafe.Add(sb, int(at)-8)).Elem().Set(s.get(nb, sb, v))
		}})
	case isError(to):
		t := registry.Describe(from)
		c.native("error box", &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
			*(*error)(unsafe.Add(sb, int(at)-8)) = t.BoxError(pack(nb, sb, v))
		}})
	case c.isErased(to) || isEmptyInterface(to):
		t := registry.Describe(from)
		c.native("box", &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
			*anyAt(sb, at) = t.Box(pack(nb, sb, v))
		}})
	default:
		c.fail(n, "a conversion to %s", to)
	}
	return dst
}

func (c *code) addressIfMemory(x operand) uint16 {
	if x.file == memory {
		return c.address(x)
	}
	return x.reg
}

// methodsKnown reports whether lowering has registered the methods of a type, or the type has no methods.
func (c *code) methodsKnown(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		return t.TypeArgs().Len() == 0 && t.Obj().Parent() == t.Obj().Pkg().Scope()
	case *types.Slice, *types.Map, *types.Array:
		return true
	}
	return false
}

// anyOf returns a function that converts a value of a compiled type to any, with fast paths for common
// types.
func anyOf(s shape, at, x uint16) func(*thread, unsafe.Pointer, unsafe.Pointer) {
	switch s.typ {
	case reflect.TypeFor[int]():
		return func(_ *thread, nb, sb unsafe.Pointer) { *anyAt(sb, at) = int(*intAt(nb, x)) }
	case reflect.TypeFor[string]():
		return func(_ *thread, _, sb unsafe.Pointer) { *anyAt(sb, at) = *stringAt(sb, x) }
	case reflect.TypeFor[float64]():
		return func(_ *thread, nb, sb unsafe.Pointer) { *anyAt(sb, at) = *floatAt(nb, x) }
	case reflect.TypeFor[bool]():
		return func(_ *thread, nb, sb unsafe.Pointer) { *anyAt(sb, at) = *intAt(nb, x) != 0 }
	}
	return func(_ *thread, nb, sb unsafe.Pointer) { *anyAt(sb, at) = s.get(nb, sb, x).Interface() }
}

// betweenInterfaces converts an interface value to another interface type.
func (c *code) betweenInterfaces(n ast.Node, x operand, from, to types.Type, want *operand) operand {
	fromAny, toAny := c.isErased(from) || isEmptyInterface(from), c.isErased(to) || isEmptyInterface(to)
	switch {
	case fromAny && toAny, types.Identical(from, to):
		x.shape = c.shape(n, to)
		return c.moveInto(x, want)
	case isError(from) && toAny:
		dst := c.destination(c.shape(n, to), want)
		at, v := dst.reg, x.reg
		c.native("any(error)", &native{run: func(_ *thread, _, sb unsafe.Pointer) {
			*anyAt(sb, at) = *(*error)(unsafe.Add(sb, int(v)-8))
		}})
		return dst
	}
	c.fail(n, "a conversion from %s to %s", from, to)
	return operand{}
}

// callInterface compiles the call of a method through an interface.
func (c *compiler) callInterface(e *ast.CallExpr, x *ast.SelectorExpr, m *types.Func, path []int, sig *types.Signature) []operand {
	t := c.typeOf(x.X)
	if len(path) > 0 {
		t = c.pathType(t, path)
		if c.isErased(t) {
			return c.callDynamic(e, c.get(c.field(x, x.X, path), nil), m, sig)
		}
		c.fail(e, "a call of the method %s of an embedded interface", m.Name())
	}
	if c.isErased(t) {
		return c.callDynamic(e, c.expr(x.X, nil), m, sig)
	}
	if !isError(t) || m.Name() != "Error" {
		c.fail(e, "a call of the method %s of an interface", m.Name())
	}
	v := c.expr(x.X, nil)
	dst := c.temporary(stringShape)
	at, from := dst.reg, v.reg
	c.native("error.Error", &native{run: func(_ *thread, _, sb unsafe.Pointer) {
		err := *(*error)(unsafe.Add(sb, int(from)-8))
		if err == nil {
			panicNil()
		}
		*stringAt(sb, at) = err.Error()
	}})
	return []operand{dst}
}
