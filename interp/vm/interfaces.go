package vm

import (
	"go/ast"
	"go/types"
	"reflect"
	"strings"
	"unsafe"

	"github.com/quernlab/quern/interp/named"
	"github.com/quernlab/quern/interp/shared"
	"github.com/quernlab/quern/interp/stack"
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

// hasMethods reports whether values of an interface type have a method table: it is a compiled type with methods.
func (c *code) hasMethods(t types.Type) bool { return !c.isErased(t) && !isEmptyInterface(t) }

// toInterface converts a value that is not an interface to an interface type.
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
	ofCell := registry.Mentions(from)
	pack := c.vm.pack(s, x.owned && x.offset == 0)
	x.reg, x.offset = c.addressIfMemory(x), 0
	dst := c.destination(target, want)
	at, v := dst.reg, x.reg
	if !ofCell && c.hasMethods(to) {
		// The method table is always the same.
		value := reflect.New(target.typ)
		if !s.typ.Implements(target.typ) {
			c.fail(n, "a conversion to %s", to)
		}
		value.Elem().Set(reflect.Zero(s.typ))
		table := *(*unsafe.Pointer)(value.UnsafePointer())
		c.native(target.typ.String()+"("+s.typ.String()+")", &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
			packed := pack(nb, sb, v)
			*interfaceAt(sb, at) = [2]unsafe.Pointer{table, interfaceWords(&packed)[1]}
		}})
		return dst
	}
	if !ofCell {
		c.native("any("+s.typ.String()+")", &native{run: anyOf(s, pack, at, v)})
		return dst
	}
	c.unit.source.becomesInterface(from)
	t := registry.Describe(from)
	if !c.hasMethods(to) {
		c.native("any of a cell's type", &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
			*anyAt(sb, at) = t.Box(pack(nb, sb, v))
		}})
		return dst
	}
	convert := c.toCompiled(target, to)
	c.native(target.typ.String()+" of a cell's type", &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
		convert(t.Box(pack(nb, sb, v)), sb, at)
	}})
	return dst
}

// tableEntry is the method table of a compiled interface for one dynamic type.
type tableEntry struct{ typ, table unsafe.Pointer }

// toCompiled returns a function that stores x, which implements the compiled interface type t or is nil, in the register at as a value
// of that type. It remembers the last method table, because most conversions see one type.
func (c *code) toCompiled(s shape, t types.Type) func(x any, sb unsafe.Pointer, at uint16) {
	registry, target := c.vm.config.Registry, c.vm.config.Registry.Describe(t)
	cached := &shared.Pointer[tableEntry]{}
	return func(x any, sb unsafe.Pointer, at uint16) {
		if x == nil {
			*interfaceAt(sb, at) = [2]unsafe.Pointer{}
			return
		}
		x = registry.Assign(x, target)
		words := interfaceWords(&x)
		entry := cached.Load()
		if entry == nil || entry.typ != words[0] {
			value := reflect.New(s.typ)
			value.Elem().Set(reflect.ValueOf(x))
			entry = &tableEntry{words[0], *(*unsafe.Pointer)(value.UnsafePointer())}
			cached.Store(entry)
		}
		*interfaceAt(sb, at) = [2]unsafe.Pointer{entry.table, words[1]}
	}
}

// interfaceAt returns the words of the interface value in a register.
func interfaceAt(sb unsafe.Pointer, at uint16) *[2]unsafe.Pointer {
	return (*[2]unsafe.Pointer)(unsafe.Add(sb, int(at)-8))
}

// becomesInterface notes that values of a type become interface values.
func (s *Source) becomesInterface(t types.Type) {
	if s.BecomesInterface != nil {
		s.BecomesInterface(t)
	}
}

func (c *code) addressIfMemory(x operand) uint16 {
	if x.file == memory {
		return c.address(x)
	}
	return x.reg
}

// anyOf returns a function that converts a value of a compiled type to any, with fast paths for common
// types.
func anyOf(s shape, pack func(nb, sb unsafe.Pointer, at uint16) any, at, x uint16) func(*thread, unsafe.Pointer, unsafe.Pointer) {
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
	return func(_ *thread, nb, sb unsafe.Pointer) { *anyAt(sb, at) = pack(nb, sb, x) }
}

// betweenInterfaces converts an interface value to another interface type.
func (c *code) betweenInterfaces(n ast.Node, x operand, from, to types.Type, want *operand) operand {
	s := c.shape(n, to)
	if !c.hasMethods(from) && !c.hasMethods(to) || types.Identical(from, to) {
		x.shape = s
		return c.moveInto(x, want)
	}
	load := c.loadAny(from)
	dst := c.destination(s, want)
	at, v := dst.reg, x.reg
	if !c.hasMethods(to) {
		c.native("any of an interface", &native{run: func(_ *thread, _, sb unsafe.Pointer) { *anyAt(sb, at) = load(sb, v) }})
		return dst
	}
	if c.vm.config.Registry == nil {
		c.fail(n, "a conversion to %s", to)
	}
	convert := c.toCompiled(s, to)
	c.native(s.typ.String()+" of an interface", &native{run: func(_ *thread, _, sb unsafe.Pointer) { convert(load(sb, v), sb, at) }})
	return dst
}

// loadAny returns a function that reads the value of an interface type t in a register.
func (c *code) loadAny(t types.Type) func(sb unsafe.Pointer, at uint16) any {
	if c.hasMethods(t) {
		// The method tables of all interfaces begin in the same way.
		return func(sb unsafe.Pointer, at uint16) any { return *errorAt(sb, at) }
	}
	return func(sb unsafe.Pointer, at uint16) any { return *anyAt(sb, at) }
}

// callInterface compiles the call of a method through an interface.
func (c *compiler) callInterface(e *ast.CallExpr, x *ast.SelectorExpr, m *types.Func, path []int, sig *types.Signature) []operand {
	v, t := c.interfaceReceiver(x, path)
	if !c.hasMethods(t) {
		return c.callDynamic(e, v, m, sig)
	}
	b := c.beginFrame()
	if f, ok := c.replacement(m); ok {
		recv := m.Signature().Recv().Type()
		c.argument(b, e, recv, false, func(want *operand) operand { return c.betweenInterfaces(e, v, t, recv, want) })
		c.arguments(b, e, sig)
		return c.callSymbol(b, e, symbolCall{name: m.FullName(), function: f, sig: sig})
	}
	c.argument(b, e, t, false, func(want *operand) operand { return c.moveInto(v, want) })
	c.arguments(b, e, sig)
	if c.isDeferred(e) {
		c.checkInterface(b.parameters[0])
	}
	return c.callTable(b, e, m, sig)
}

// interfaceReceiver compiles the receiver, of an interface type, of a method that x selects, and returns its type.
func (c *compiler) interfaceReceiver(x *ast.SelectorExpr, path []int) (operand, types.Type) {
	t := c.typeOf(x.X)
	if len(path) == 0 {
		return c.expr(x.X, nil), t
	}
	return c.get(c.field(x, x.X, path), nil), c.pathType(t, path)
}

// callTable compiles the call of a method of a compiled interface type. The arguments are in b, first the interface value.
func (c *compiler) callTable(b *callFrame, e ast.Node, m *types.Func, sig *types.Signature) []operand {
	if c.deferCall(e, b, nil, func(a *compiler, b *callFrame, _ []operand) { a.callTable(b, e, m, sig) }) {
		return nil
	}
	typ, at := b.parameters[0].typ, b.parameters[0].reg
	method, ok := typ.MethodByName(m.Name())
	if !ok {
		c.fail(e, "a call of %s", m.FullName())
	}
	rest := *b
	rest.parameters = b.parameters[1:]
	call := c.compiledCall(&rest, e, m.FullName(), method.Type, sig)
	if endsWithContext(m) {
		registry, name := c.vm.config.Registry, m.Name()
		c.native(m.FullName(), &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
			call.reflect(registry.Bound(*errorAt(sb, at), name), nb, sb)
		}})
		return call.results
	}
	receiver := operand{shape: pointerShape, reg: at} // the second word of the interface value
	if offset, ok := named.MethodOffset(typ, m.Name()); ok {
		if direct := call.adapter(receiver); direct != nil {
			c.native(m.FullName(), &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
				table := interfaceAt(sb, at)[0]
				if table == nil {
					panicNil()
				}
				direct(unsafe.Add(table, offset), nb, sb)
			}})
			return call.results
		}
	}
	c.native(m.FullName(), &native{run: func(_ *thread, nb, sb unsafe.Pointer) {
		if interfaceAt(sb, at)[0] == nil {
			panicNil()
		}
		words := *interfaceAt(sb, at)
		call.reflect(reflect.NewAt(typ, unsafe.Pointer(&words)).Elem().Method(method.Index), nb, sb)
	}})
	return call.results
}

// endsWithContext reports whether m is a method of a package of Quern that uses its context only until it returns. The run time then makes
// it end when its cell is interrupted.
func endsWithContext(m *types.Func) bool {
	if m.Pkg() == nil || !strings.HasPrefix(m.Pkg().Path(), stack.Module) {
		return false
	}
	in, out := m.Signature().Params(), m.Signature().Results()
	return in.Len() > 0 && out.Len() > 0 && types.TypeString(in.At(0).Type(), nil) == "context.Context" && isError(out.At(out.Len()-1).Type())
}

// interfaceMethodValue compiles the value x.m of a method of an interface: a closure that captures the interface value.
func (c *compiler) interfaceMethodValue(e *ast.SelectorExpr, m *types.Func, path []int, want *operand) operand {
	v, t := c.interfaceReceiver(e, path)
	c.checkInterface(v)
	captured := c.captureValue(v)
	w := c.methodWrapper(e, m)
	w.addParameters(w.signature)
	w.receiver = types.NewParam(e.Pos(), nil, "receiver", t)
	w.variables[w.receiver] = &variable{shape: v.shape, reg: w.referenceRegister(), boxed: true}
	w.fn.captures = []uint16{w.variables[w.receiver].reg}
	w.finish(nil)
	dst := c.destination(c.shapeOf(e), want)
	c.makeClosure(w.fn, []uint16{captured}, dst)
	return dst
}
