package vm

import (
	"context"
	"go/ast"
	"go/types"
	"reflect"
	"sync"
	"time"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
)

// replacement returns what code of cells calls instead of a method of a compiled package, and whether there is such a function.
func (c *code) replacement(o *types.Func) (reflect.Value, bool) {
	f, ok := c.vm.config.Packages[rt.Methods][o.FullName()]
	return f, ok
}

// guarded returns f, the compiled function o; if it calls its last argument in a new goroutine, then in one that belongs to the cell.
func (c *compiler) guarded(e ast.Node, o *types.Func, f reflect.Value) reflect.Value {
	guard, cell := c.vm.config.Guard, c.source.Cell
	var start any
	switch o.FullName() {
	case "(*sync.WaitGroup).Go":
		f := f.Interface().(func(*sync.WaitGroup, func()))
		start = func(w *sync.WaitGroup, g func()) { f(w, guard(cell, g)) }
	case "time.AfterFunc":
		f := f.Interface().(func(time.Duration, func()) *time.Timer)
		start = func(d time.Duration, g func()) *time.Timer { return f(d, guard(cell, g)) }
	case "context.AfterFunc":
		f := f.Interface().(func(context.Context, func()) (stop func() bool))
		start = func(ctx context.Context, g func()) (stop func() bool) { return f(ctx, guard(cell, g)) }
	default:
		return f
	}
	if guard == nil {
		c.fail(e, "a call of %s", o.FullName())
	}
	return reflect.ValueOf(start)
}

// callCompiled compiles the call of a function of a compiled package.
func (c *compiler) callCompiled(e *ast.CallExpr, o *types.Func, sig *types.Signature) []operand {
	plain := !c.argumentCountDiffers(e, sig) && !c.isDeferred(e)
	if plain && c.sortsSlice(e, o) {
		return c.sortSlice(e, o, sig)
	}
	if plain {
		if methods := c.cellCollection(e, o); methods != nil {
			return c.callCollection(e, o, sig, methods)
		}
	}
	if o.Pkg().Path() == genericPackage && takesSlices(sig) {
		return c.callOrdered(e, o, sig)
	}
	if _, ok := ast.Unparen(e.Fun).(*ast.IndexExpr); ok {
		c.fail(e, "a generic function")
	}
	symbol, ok := c.vm.config.Packages[o.Pkg().Path()+"/"+o.Pkg().Name()][o.Name()]
	if !ok || symbol.Kind() != reflect.Func {
		c.fail(e, "a call of %s", o.FullName())
	}
	symbol = c.guarded(e, o, symbol)
	if f, ok := symbol.Interface().(func(float64) float64); ok && plain {
		x := c.exprTo(e.Args[0], sig.Params().At(0).Type(), nil)
		dst := c.temporary(x.shape)
		if o.FullName() == "math.Sqrt" {
			c.do(opSqrt, dst.reg, x.reg, 0)
			return []operand{dst}
		}
		c.fn.natives = append(c.fn.natives, &native{name: o.FullName(), float: f})
		c.emit(opCallFloat, dst.reg, x.reg, 0, int32(len(c.fn.natives)-1), 0)
		return []operand{dst}
	}
	if plain {
		if results := c.callComplex(e, o.FullName(), symbol.Interface(), sig); results != nil {
			return results
		}
	}
	b := c.beginFrame()
	c.arguments(b, e, sig)
	if o.FullName() == labelsParameters {
		c.nameParameters(b, e)
	}
	return c.callSymbol(b, e, symbolCall{name: o.FullName(), function: symbol, sig: sig})
}

// labelsParameters is a function that shows a control for each parameter of a function argument and labels it with the parameter's
// name. A function value does not contain the names of its parameters.
const labelsParameters = "github.com/quernlab/quern/widgets.Interact"

// nameParameters adds the names of its parameters to a function that is the first argument.
func (c *compiler) nameParameters(b *callFrame, e *ast.CallExpr) {
	sig, ok := c.typeOf(e.Args[0]).Underlying().(*types.Signature)
	if !ok {
		return
	}
	var names []string
	for v := range sig.Params().Variables() {
		name := v.Name()
		if name == "_" {
			name = ""
		}
		names = append(names, name)
	}
	at := b.parameters[0].reg
	c.native("name the parameters", &native{run: func(_ *thread, _, sb unsafe.Pointer) {
		*anyAt(sb, at) = rt.Named(*anyAt(sb, at), names...)
	}})
}

// typeFor compiles a call of reflect.TypeFor.
func (c *compiler) typeFor(e *ast.CallExpr, argument types.Type) []operand {
	registry := c.vm.config.Registry
	if registry == nil {
		c.fail(e, "a call of reflect.TypeFor")
	}
	if c.deferCall(e, c.beginFrame(), nil, func(a *compiler, _ *callFrame, _ []operand) { a.typeFor(e, argument) }) {
		return nil
	}
	dst := c.temporary(c.shapeOf(e))
	at, t, pointer := dst.reg, registry.Describe(argument), reflect.Zero(reflect.PointerTo(c.shape(e, argument).typ)).Interface()
	c.native("reflect.TypeFor", &native{run: func(_ *thread, _, sb unsafe.Pointer) {
		*(*reflect.Type)(unsafe.Add(sb, int(at)-8)) = registry.TypeFor(t, pointer)
	}})
	return []operand{dst}
}

// argumentCountDiffers reports whether a call does not have one argument for each parameter: it is
// variadic, or passes several results of another call.
func (c *code) argumentCountDiffers(e *ast.CallExpr, sig *types.Signature) bool {
	return len(e.Args) != sig.Params().Len()
}

// callCompiledMethod compiles the call of a method of a compiled type.
func (c *compiler) callCompiledMethod(e *ast.CallExpr, x *ast.SelectorExpr, m *types.Func, path []int, sig *types.Signature) []operand {
	recv := m.Signature().Recv().Type()
	s := c.shape(e, recv)
	call := symbolCall{name: m.FullName(), sig: sig}
	if f, ok := c.replacement(m); ok {
		call.function = f
		var b *callFrame
		if in := f.Type().In(0); in.Kind() == reflect.Interface {
			b = c.interfaceFrame(x, path, in)
		} else {
			b = c.methodFrame(e, x, path, recv, false)
		}
		c.arguments(b, e, sig)
		return c.callSymbol(b, e, call)
	}
	method, ok := s.typ.MethodByName(m.Name())
	if !ok {
		c.fail(e, "a call of %s", m.FullName())
	}
	call.function = c.guarded(e, m, c.vm.config.Registry.MethodFunc(s.typ, method))
	var b *callFrame
	if s.file == memory && len(e.Args) == 0 && !c.isDeferred(e) {
		b = c.beginFrame()
		// Call the method of the pointer type: it copies the receiver, and there is a fast adapter for it.
		method, _ = reflect.PointerTo(s.typ).MethodByName(m.Name())
		call.function = method.Func
		c.argument(b, e, types.NewPointer(recv), false, func(want *operand) operand {
			at := c.address(c.receiver(x, path, recv, nil))
			return c.moveInto(operand{shape: c.shape(e, types.NewPointer(recv)), reg: at}, want)
		})
	} else {
		b = c.methodFrame(e, x, path, recv, false)
	}
	c.arguments(b, e, sig)
	return c.callSymbol(b, e, call)
}

// interfaceFrame begins the frame of a function whose first parameter is an interface that the compiled type implements from which x selects
// a method, perhaps a promoted one: testing.TB for T.Log.
func (c *compiler) interfaceFrame(x *ast.SelectorExpr, path []int, in reflect.Type) *callFrame {
	owner, n := c.typeOf(x.X), 0
	for ; n < len(path) && c.isOfCell(owner); n++ {
		owner = c.pathType(owner, path[n:n+1])
	}
	if _, ok := owner.Underlying().(*types.Pointer); !ok {
		owner = types.NewPointer(owner)
	}
	s, typ := shape{file: reference, width: "If", typ: in}, c.shape(x, owner).typ
	if !typ.Implements(in) {
		c.fail(x, "a method of %s", owner)
	}
	value := reflect.New(in)
	value.Elem().Set(reflect.Zero(typ))
	table := *(*unsafe.Pointer)(value.UnsafePointer())
	b := c.beginFrame()
	to := c.temporary(s)
	m := c.mark()
	at, from := to.reg, c.receiver(x, path[:n], owner, nil).reg
	c.native(in.String(), &native{run: func(_ *thread, _, sb unsafe.Pointer) {
		*interfaceAt(sb, at) = [2]unsafe.Pointer{table, *pointerAt(sb, from)}
	}})
	c.release(m)
	b.parameters = append(b.parameters, to)
	return b
}

// isOfCell reports whether a type, or its pointer target, is not a named type of a compiled package.
func (c *code) isOfCell(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return !ok || c.vm.config.Interpreted(n)
}

// symbolCall is what a call of a compiled function calls.
type symbolCall struct {
	name     string
	function reflect.Value
	sig      *types.Signature
}

// callSymbol compiles the call of a compiled function with the arguments in b. If it is deferred and calls a function of the cell, that
// one is not the deferred function, so that it cannot recover.
func (c *compiler) callSymbol(b *callFrame, e ast.Node, x symbolCall) []operand {
	if c.deferThrough(e, b, nil, func(a *compiler, b *callFrame, _ []operand) { a.callSymbol(b, e, x) }, false) {
		return nil
	}
	f := x.function
	call := c.compiledCall(b, e, x.name, f.Type(), x.sig)
	if direct := call.adapter(); direct != nil {
		function := functionPointer(f)
		c.native(x.name, &native{run: func(_ *thread, nb, sb unsafe.Pointer) { direct(function, nb, sb) }})
	} else {
		c.native(x.name, &native{run: func(_ *thread, nb, sb unsafe.Pointer) { call.reflect(f, nb, sb) }})
	}
	return call.results
}

// compiledCall is the call of a compiled function.
type compiledCall struct{ parameters, results []operand }

// compiledCall prepares the call of a function of type typ with the arguments in b, which it releases: the results replace them.
func (c *compiler) compiledCall(b *callFrame, e ast.Node, name string, typ reflect.Type, sig *types.Signature) *compiledCall {
	if typ.NumIn() != len(b.parameters) {
		c.fail(e, "a call of %s", name)
	}
	for i, p := range b.parameters {
		if !sameInMemory(p.typ, typ.In(i)) {
			c.fail(e, "a call of %s, whose checked and compiled types differ", name)
		}
	}
	call := &compiledCall{parameters: b.parameters}
	c.release(b.mark)
	for v := range sig.Results().Variables() {
		r := c.temporary(c.shape(e, v.Type()))
		r.owned = r.file == memory
		call.results = append(call.results, r)
	}
	for i, r := range call.results {
		if !sameInMemory(r.typ, typ.Out(i)) {
			c.fail(e, "a call of %s, whose checked and compiled types differ", name)
		}
	}
	return call
}

// adapter returns the adapter for the function, with more parameters before the others; nil if there is none.
func (x *compiledCall) adapter(before ...operand) adapter {
	var shapes [2][]shape
	var registers [2][]uint16
	for i, list := range [][]operand{append(before, x.parameters...), x.results} {
		for _, o := range list {
			shapes[i], registers[i] = append(shapes[i], o.shape), append(registers[i], o.reg)
		}
	}
	return adapterFor(shapes[0], registers[0], shapes[1], registers[1])
}

// reflect makes package reflect call f.
func (x *compiledCall) reflect(f reflect.Value, nb, sb unsafe.Pointer) {
	arguments := make([]reflect.Value, len(x.parameters))
	for i, p := range x.parameters {
		arguments[i] = p.get(nb, sb, p.reg)
	}
	out := call(f, arguments)
	for i, r := range x.results {
		r.put(nb, sb, r.reg, out[i])
	}
}

// call calls f, whose variadic parameter gets a slice.
func call(f reflect.Value, arguments []reflect.Value) []reflect.Value {
	if f.Type().IsVariadic() {
		return f.CallSlice(arguments)
	}
	return f.Call(arguments)
}

// sameInMemory reports whether values of t can be used as values of u. To package reflect, an instance of iter.Seq of a cell is a
// plain function type.
func sameInMemory(t, u reflect.Type) bool {
	return t == u || t.Kind() == reflect.Func && t.ConvertibleTo(u)
}
