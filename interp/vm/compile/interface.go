package compile

import (
	"go/ast"
	"go/types"
	"reflect"
	"strings"
	"unsafe"

	"github.com/quernlab/quern/interp/named"
	"github.com/quernlab/quern/interp/origin"
	"github.com/quernlab/quern/interp/shared"
	"github.com/quernlab/quern/interp/stack"
	"github.com/quernlab/quern/interp/vm"
)

// isOfCells reports whether an interface type is not a named one of a compiled package.
func (c *code) isOfCells(t types.Type) bool {
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return c.unit.config.Interpreted(n) || n.Obj().Pkg() == nil && n.Obj().Name() != "error"
	}
	return true
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

func isEmptyInterface(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.NumMethods() == 0
}

// isCompiled reports whether an interface type has methods and is a named one of a compiled package.
func (c *code) isCompiled(t types.Type) bool { return !isEmptyInterface(t) && !c.isOfCells(t) }

// toInterface converts a value that is not an interface to an interface type.
func (c *code) toInterface(n ast.Node, x operand, from, to types.Type, want *operand) operand {
	if b, ok := from.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
		from = types.Default(from)
	}
	registry := c.vm.Registry()
	if registry == nil {
		c.fail(n, "a conversion to an interface")
	}
	s := c.shape(n, from)
	target := c.shape(n, to)
	ofCell := registry.Mentions(from)
	pack := c.vm.Pack(s, x.owned && x.offset == 0)
	x.reg, x.offset = c.addressIfMemory(x), 0
	dst := c.destination(target, want)
	at, v := dst.reg, x.reg
	if !ofCell && c.isCompiled(to) {
		// The method table is always the same.
		value := reflect.New(target.Type)
		if !s.Type.Implements(target.Type) {
			c.fail(n, "a conversion to %s", to)
		}
		value.Elem().Set(reflect.Zero(s.Type))
		table := *(*unsafe.Pointer)(value.UnsafePointer())
		c.native(target.Type.String()+"("+s.Type.String()+")", &vm.Native{Run: func(_ *vm.Thread, nb, sb unsafe.Pointer) {
			packed := pack(nb, sb, v)
			*vm.InterfaceAt(sb, at) = [2]unsafe.Pointer{table, vm.InterfaceWords(&packed)[1]}
		}})
		return dst
	}
	if !ofCell && isEmptyInterface(to) {
		c.native("any("+s.Type.String()+")", &vm.Native{Run: anyOf(s, pack, at, v)})
		return dst
	}
	box := func(x any) any { return x }
	if ofCell {
		c.unit.source.becomesInterface(from)
		box = registry.Describe(from).Box
	}
	if isEmptyInterface(to) {
		c.native("any of a cell's type", &vm.Native{Run: func(_ *vm.Thread, nb, sb unsafe.Pointer) {
			*vm.AnyAt(sb, at) = box(pack(nb, sb, v))
		}})
		return dst
	}
	convert := c.withTable(to)
	c.native(typeText(to)+" of a cell's type", &vm.Native{Run: func(_ *vm.Thread, nb, sb unsafe.Pointer) {
		convert(box(pack(nb, sb, v)), sb, at)
	}})
	return dst
}

// tableEntry is the method table of an interface for one dynamic type.
type tableEntry struct{ typ, table unsafe.Pointer }

// withTable returns a function that stores x, which implements the interface type t or is nil, in the register at as a value
// of that type. It remembers the last method table, because most conversions see one type.
func (c *code) withTable(t types.Type) func(x any, sb unsafe.Pointer, at uint16) {
	registry, target := c.vm.Registry(), c.vm.Registry().Describe(t)
	cached := &shared.Pointer[tableEntry]{}
	return func(x any, sb unsafe.Pointer, at uint16) {
		if x == nil {
			*vm.InterfaceAt(sb, at) = [2]unsafe.Pointer{}
			return
		}
		words := vm.InterfaceWords(&x)
		entry := cached.Load()
		if entry == nil || entry.typ != words[0] {
			x = registry.Assign(x, target)
			entry = &tableEntry{words[0], named.Table(registry.InterfaceType(target), reflect.TypeOf(x))}
			cached.Store(entry)
		}
		*vm.InterfaceAt(sb, at) = [2]unsafe.Pointer{entry.table, words[1]}
	}
}

// becomesInterface notes that values of a type become interface values.
func (s *Source) becomesInterface(t types.Type) {
	if s.BecomesInterface != nil {
		s.BecomesInterface(t)
	}
}

// anyOf returns a function that converts a value of a compiled type to any, with fast paths for common
// types.
func anyOf(s vm.Shape, pack func(nb, sb unsafe.Pointer, at uint16) any, at, x uint16) func(*vm.Thread, unsafe.Pointer, unsafe.Pointer) {
	switch s.Type {
	case reflect.TypeFor[int]():
		return func(_ *vm.Thread, nb, sb unsafe.Pointer) { *vm.AnyAt(sb, at) = int(*vm.IntAt(nb, x)) }
	case reflect.TypeFor[string]():
		return func(_ *vm.Thread, _, sb unsafe.Pointer) { *vm.AnyAt(sb, at) = *vm.StringAt(sb, x) }
	case reflect.TypeFor[float64]():
		return func(_ *vm.Thread, nb, sb unsafe.Pointer) { *vm.AnyAt(sb, at) = *vm.FloatAt(nb, x) }
	case reflect.TypeFor[bool]():
		return func(_ *vm.Thread, nb, sb unsafe.Pointer) { *vm.AnyAt(sb, at) = *vm.IntAt(nb, x) != 0 }
	}
	return func(_ *vm.Thread, nb, sb unsafe.Pointer) { *vm.AnyAt(sb, at) = pack(nb, sb, x) }
}

// betweenInterfaces converts an interface value to another interface type.
func (c *code) betweenInterfaces(n ast.Node, x operand, from, to types.Type, want *operand) operand {
	s := c.shape(n, to)
	if isEmptyInterface(from) && isEmptyInterface(to) || types.Identical(from, to) {
		x.Shape = s
		return c.moveInto(x, want)
	}
	load := c.loadAny(from)
	dst := c.destination(s, want)
	at, v := dst.reg, x.reg
	if isEmptyInterface(to) {
		c.native("any of an interface", &vm.Native{Run: func(_ *vm.Thread, _, sb unsafe.Pointer) { *vm.AnyAt(sb, at) = load(sb, v) }})
		return dst
	}
	if c.vm.Registry() == nil {
		c.fail(n, "a conversion to %s", to)
	}
	convert := c.withTable(to)
	c.native(typeText(to)+" of an interface", &vm.Native{Run: func(_ *vm.Thread, _, sb unsafe.Pointer) { convert(load(sb, v), sb, at) }})
	return dst
}

// loadAny returns a function that reads the value of an interface type t in a register.
func (c *code) loadAny(t types.Type) func(sb unsafe.Pointer, at uint16) any {
	if !isEmptyInterface(t) {
		// The method tables of all interfaces begin in the same way.
		return func(sb unsafe.Pointer, at uint16) any { return *vm.ErrorAt(sb, at) }
	}
	return func(sb unsafe.Pointer, at uint16) any { return *vm.AnyAt(sb, at) }
}

// callInterface compiles the call of a method through an interface.
func (c *compiler) callInterface(e *ast.CallExpr, x *ast.SelectorExpr, m *types.Func, path []int, sig *types.Signature) []operand {
	v, t := c.interfaceReceiver(x, path)
	if c.isOfCells(t) {
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
	typ, at := b.parameters[0].Type, b.parameters[0].reg
	method, ok := typ.MethodByName(m.Name())
	if !ok {
		c.fail(e, "a call of %s", m.FullName())
	}
	rest := *b
	rest.parameters = b.parameters[1:]
	call := c.compiledCall(&rest, e, m.FullName(), method.Type, sig)
	if endsWithContext(m) {
		registry, name := c.vm.Registry(), m.Name()
		c.native(m.FullName(), &vm.Native{Run: func(_ *vm.Thread, nb, sb unsafe.Pointer) {
			call.reflect(registry.Bound(*vm.ErrorAt(sb, at), name), nb, sb)
		}})
		return call.results
	}
	receiver := operand{Shape: pointerShape, reg: at} // the second word of the interface value
	if offset, ok := named.MethodOffset(typ, m.Name()); ok {
		if direct := call.adapter(receiver); direct != nil {
			c.native(m.FullName(), &vm.Native{Run: func(_ *vm.Thread, nb, sb unsafe.Pointer) {
				table := vm.InterfaceAt(sb, at)[0]
				if table == nil {
					vm.PanicNil()
				}
				direct(unsafe.Add(table, offset), nb, sb)
			}})
			return call.results
		}
	}
	c.native(m.FullName(), &vm.Native{Run: func(_ *vm.Thread, nb, sb unsafe.Pointer) {
		if vm.InterfaceAt(sb, at)[0] == nil {
			vm.PanicNil()
		}
		words := *vm.InterfaceAt(sb, at)
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
	w.variables[w.receiver] = &variable{Shape: v.Shape, reg: w.referenceRegister(), boxed: true}
	w.fn.Captures = []uint16{w.variables[w.receiver].reg}
	w.fn.CapturesVariable(v.Type, false)
	w.finish(nil)
	dst := c.destination(c.shapeOf(e), want)
	c.makeClosure(w.fn, []uint16{captured}, dst)
	return dst
}

// callDynamic compiles a call of method m of v, a value of an interface type of a cell.
func (c *compiler) callDynamic(e *ast.CallExpr, v operand, m *types.Func, sig *types.Signature) []operand {
	if c.isDeferred(e) {
		v = c.snapshot(v)
	}
	b := c.beginCall(e)
	b.parameters = append(b.parameters, c.temporary(pointerShape))
	c.arguments(b, e, sig)
	if c.isDeferred(e) {
		c.checkInterface(v)
	}
	return c.callDynamicWith(b, e, v, m, sig)
}

// checkInterface emits a panic if v is nil: deferring a method of a nil interface panics at the defer
// statement.
func (c *code) checkInterface(v operand) {
	at := v.reg
	c.native("check the interface", &vm.Native{Run: func(_ *vm.Thread, _, sb unsafe.Pointer) {
		if *vm.AnyAt(sb, at) == nil {
			vm.PanicNil()
		}
	}})
}

// callDynamicWith compiles a call of a method of v with the arguments in b. The first argument is reserved
// for the receiver.
func (c *compiler) callDynamicWith(b *callFrame, e ast.Node, v operand, m *types.Func, sig *types.Signature) []operand {
	rest := *b
	rest.parameters = b.parameters[1:]
	if c.deferCall(e, &rest, []operand{v}, func(a *compiler, b *callFrame, more []operand) {
		c := a
		moved := c.beginFrame()
		moved.parameters = append(moved.parameters, c.temporary(pointerShape))
		for _, p := range b.parameters {
			to := c.temporary(p.Shape)
			c.move(to, p)
			moved.parameters = append(moved.parameters, to)
		}
		c.callDynamicWith(moved, e, more[0], m, sig)
	}) {
		return nil
	}
	s := &vm.CallSite{Name: origin.MethodKey(m)}
	for _, p := range b.parameters {
		s.Parameters = append(s.Parameters, p.Shape)
	}
	for v := range sig.Results().Variables() {
		s.Results = append(s.Results, c.shape(e, c.subst(v.Type())))
	}
	c.reserveResults(b, s.Results)
	c.fn.CallSites = append(c.fn.CallSites, s)
	c.emit(vm.OpCallMethod, b.scalarOffset, b.slotOffset, v.reg, int32(len(c.fn.CallSites)-1), b.lending())
	return c.resultsOf(b, sig, e)
}

// interfaceEntry returns the function that calls of a method through interfaces run: the method itself, or
// a wrapper that prepares the receiver. Its first parameter is the data word of the receiver.
func (c *compiler) interfaceEntry(d Declaration) *vm.Function {
	s := c.fn.Parameters[0]
	switch {
	case s.File == vm.Reference && named.IsDirect(s.Type), s.File == vm.Memory && !named.IsDirect(s.Type) && c.onlyRead(d.Body, d.Signature.Recv()):
		return c.fn
	}
	fn := c.unit.newFunction("")
	fn.Wrapper = true
	a := &compiler{code: c.of(fn), source: c.source, substitute: c.substitute, facts: c.facts, variables: map[types.Object]*variable{}}
	a.setPosition(d.Body)
	fn.Parameters = append([]vm.Shape{pointerShape}, c.fn.Parameters[1:]...)
	fn.Results = c.fn.Results
	a.reserveResults(&callFrame{}, fn.Results)
	from := vm.FrameRegisters(fn.Parameters)
	for _, p := range fn.Parameters {
		a.register(p)
	}
	m := a.mark()
	for _, r := range fn.Results {
		a.register(r) // so that the call does not overwrite them
	}
	a.release(mark{max(m.scalars, a.scalarsInUse), max(m.slots, a.slotsInUse)})
	a.ownParameters(from, all)
	b := a.beginFrame()
	receiver := a.temporary(s)
	switch {
	case s.File == vm.Memory && named.IsDirect(s.Type): // the word is the pointer of which the value consists
		a.emit(vm.OpNew, receiver.reg, 0, 0, a.memoryType(s.Type), 0)
		a.store(receiver.reg, 0, operand{Shape: pointerShape, reg: from[0]})
	case s.File == vm.Memory:
		a.emit(vm.OpCloneM, receiver.reg, from[0], 0, a.memoryType(s.Type), 0)
	default:
		a.load(s, from[0], 0, &receiver)
	}
	for i, p := range fn.Parameters[1:] {
		a.move(a.temporary(p), operand{Shape: p, reg: from[i+1]})
	}
	for i, r := range a.callDirect(b, c.fn, d.Signature, d.Body) {
		a.move(operand{Shape: r.Shape, reg: vm.FrameRegisters(fn.Results)[i]}, r)
	}
	a.do(vm.OpRet, 0, 0, 0)
	return fn
}

// onlyRead reports whether a function only reads fields of its parameter v that are not in memory
// themselves. Then the caller need not copy the value.
func (c *compiler) onlyRead(body *ast.BlockStmt, v *types.Var) bool {
	if c.facts.Escapes(v) || c.facts.Assigned(v) {
		return false
	}
	uses, reads := 0, 0
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if c.source.Info.Uses[n] == v {
				uses++
			}
		case *ast.SelectorExpr:
			id, ok := n.X.(*ast.Ident)
			sel := c.source.Info.Selections[n]
			if ok && c.source.Info.Uses[id] == v && sel != nil && sel.Kind() == types.FieldVal && c.shapeOf(n).File != vm.Memory {
				reads++
			}
		}
		return true
	})
	return uses == reads
}
