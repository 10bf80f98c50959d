package compile

import (
	"cmp"
	"context"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/quernlab/quern/interp/desugar"
	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/vm"
)

// replacement returns what code of cells calls instead of a method of a compiled package, and whether there is such a function.
func (c *code) replacement(o *types.Func) (reflect.Value, bool) {
	f, ok := c.unit.config.Packages[rt.Methods][o.FullName()]
	return f, ok
}

// guarded returns f, the compiled function o; if it calls its last argument in a new goroutine, then in one that belongs to the cell.
func (c *compiler) guarded(e ast.Node, o *types.Func, f reflect.Value) reflect.Value {
	guard, cell := c.unit.config.Guard, c.source.Cell
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
	if compareFunctions[o.FullName()] != nil {
		return c.sortFunc(e, o)
	}
	if o.Pkg().Path() == genericPackage && takesSlices(sig) {
		return c.callOrdered(e, o, sig)
	}
	if _, ok := ast.Unparen(e.Fun).(*ast.IndexExpr); ok {
		c.fail(e, "a generic function")
	}
	symbol, ok := c.unit.config.Packages[o.Pkg().Path()+"/"+o.Pkg().Name()][o.Name()]
	if !ok || symbol.Kind() != reflect.Func {
		c.fail(e, "a call of %s", o.FullName())
	}
	symbol = c.guarded(e, o, symbol)
	if f, ok := symbol.Interface().(func(float64) float64); ok && plain {
		x := c.exprTo(e.Args[0], sig.Params().At(0).Type(), nil)
		dst := c.temporary(x.Shape)
		if o.FullName() == "math.Sqrt" {
			c.do(vm.OpSqrt, dst.reg, x.reg, 0)
			return []operand{dst}
		}
		c.fn.Natives = append(c.fn.Natives, &vm.Native{Name: o.FullName(), Float: f})
		c.emit(vm.OpCallFloat, dst.reg, x.reg, 0, int32(len(c.fn.Natives)-1), 0)
		return []operand{dst}
	}
	if plain {
		if results := c.callComplex(e, o.FullName(), symbol.Interface(), sig); results != nil {
			return results
		}
	}
	if name := o.FullName(); name == "runtime.GC" || name == "runtime/debug.FreeOSMemory" {
		c.clearUnused() // a finalizer or weak pointer may show what slots refer to
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
	c.native("name the parameters", &vm.Native{Run: func(_ *vm.Thread, _, sb unsafe.Pointer) {
		*vm.AnyAt(sb, at) = rt.Named(*vm.AnyAt(sb, at), names...)
	}})
}

// typeFor compiles a call of reflect.TypeFor.
func (c *compiler) typeFor(e *ast.CallExpr, argument types.Type) []operand {
	registry := c.vm.Registry()
	if registry == nil {
		c.fail(e, "a call of reflect.TypeFor")
	}
	if c.deferCall(e, c.beginFrame(), nil, func(a *compiler, _ *callFrame, _ []operand) { a.typeFor(e, argument) }) {
		return nil
	}
	dst := c.temporary(c.shapeOf(e))
	at, t, pointer := dst.reg, registry.Describe(argument), reflect.Zero(reflect.PointerTo(c.shape(e, argument).Type)).Interface()
	c.native("reflect.TypeFor", &vm.Native{Run: func(_ *vm.Thread, _, sb unsafe.Pointer) {
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
	method, ok := s.Type.MethodByName(m.Name())
	if !ok {
		c.fail(e, "a call of %s", m.FullName())
	}
	call.function = c.guarded(e, m, c.vm.Registry().MethodFunc(s.Type, method))
	var b *callFrame
	if s.File == vm.Memory && len(e.Args) == 0 && !c.isDeferred(e) {
		b = c.beginFrame()
		// Call the method of the pointer type: it copies the receiver, and there is a fast adapter for it.
		method, _ = reflect.PointerTo(s.Type).MethodByName(m.Name())
		call.function = method.Func
		c.argument(b, e, types.NewPointer(recv), false, func(want *operand) operand {
			at := c.address(c.receiver(x, path, recv, nil))
			return c.moveInto(operand{Shape: c.shape(e, types.NewPointer(recv)), reg: at}, want)
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
	s, typ := vm.Shape{File: vm.Reference, Width: "If", Type: in}, c.shape(x, owner).Type
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
	c.native(in.String(), &vm.Native{Run: func(_ *vm.Thread, _, sb unsafe.Pointer) {
		*vm.InterfaceAt(sb, at) = [2]unsafe.Pointer{table, *vm.PointerAt(sb, from)}
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
	return !ok || c.unit.config.Interpreted(n)
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
		function := vm.FunctionPointer(f)
		c.native(x.name, &vm.Native{Run: func(_ *vm.Thread, nb, sb unsafe.Pointer) { direct(function, nb, sb) }})
	} else {
		c.native(x.name, &vm.Native{Run: func(_ *vm.Thread, nb, sb unsafe.Pointer) { call.reflect(f, nb, sb) }})
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
		if !sameInMemory(p.Type, typ.In(i)) {
			c.fail(e, "a call of %s, whose checked and compiled types differ", name)
		}
	}
	call := &compiledCall{parameters: b.parameters}
	c.release(b.mark)
	for v := range sig.Results().Variables() {
		r := c.temporary(c.shape(e, v.Type()))
		r.owned = r.File == vm.Memory
		call.results = append(call.results, r)
	}
	for i, r := range call.results {
		if !sameInMemory(r.Type, typ.Out(i)) {
			c.fail(e, "a call of %s, whose checked and compiled types differ", name)
		}
	}
	return call
}

// adapter returns the adapter for the function, with more parameters before the others; nil if there is none.
func (x *compiledCall) adapter(before ...operand) vm.Adapter {
	var shapes [2][]vm.Shape
	var registers [2][]uint16
	for i, list := range [][]operand{append(before, x.parameters...), x.results} {
		for _, o := range list {
			shapes[i], registers[i] = append(shapes[i], o.Shape), append(registers[i], o.reg)
		}
	}
	return vm.AdapterFor(shapes[0], registers[0], shapes[1], registers[1])
}

// reflect makes package reflect call f.
func (x *compiledCall) reflect(f reflect.Value, nb, sb unsafe.Pointer) {
	arguments := make([]reflect.Value, len(x.parameters))
	for i, p := range x.parameters {
		arguments[i] = p.Get(nb, sb, p.reg)
	}
	out := vm.Call(f, arguments)
	for i, r := range x.results {
		r.Put(nb, sb, r.reg, out[i])
	}
}

// sameInMemory reports whether values of t can be used as values of u. To package reflect, an instance of iter.Seq of a cell is a
// plain function type.
func sameInMemory(t, u reflect.Type) bool {
	return t == u || t.Kind() == reflect.Func && t.ConvertibleTo(u)
}

// callCmp compiles a call of a function of package cmp for common types, or of strings.Compare, without a call. It returns nil for
// any other call.
func (c *compiler) callCmp(e *ast.CallExpr, o *types.Func, sig *types.Signature) []operand {
	if o.Pkg() == nil || o.Pkg().Path() != "cmp" && o.FullName() != "strings.Compare" || c.isDeferred(e) || e.Ellipsis.IsValid() || len(e.Args) == 0 {
		return nil
	}
	t := c.subst(sig.Params().At(0).Type())
	if o.Name() == "Or" {
		t = t.Underlying().(*types.Slice).Elem()
	} else if c.argumentCountDiffers(e, sig) {
		return nil
	}
	s := c.shape(e, t)
	isText, isFloat := s.Width == "Str", isFloat(s.Type.Kind())
	if s.File != vm.Scalar && !isText {
		return nil
	}
	switch o.Name() {
	case "Or":
		if isFloat {
			return nil
		}
		return []operand{c.firstNonzero(e.Args, t, s)}
	case "Compare":
		dst := c.temporary(intShape)
		m := c.mark()
		x, y := c.copyOf(e.Args[0], t, s), c.copyOf(e.Args[1], t, s)
		c.compareTo(dst.reg, x, y)
		c.release(m)
		return []operand{dst}
	}
	return nil
}

// copyOf compiles e to a value in a register of its own.
func (c *compiler) copyOf(e ast.Expr, t types.Type, s vm.Shape) operand {
	to := c.temporary(s)
	m := c.mark()
	c.moveInto(c.exprTo(e, t, &to), &to)
	c.release(m)
	return to
}

// firstNonzero compiles cmp.Or for integers, booleans and strings. Arguments that nobody can observe are only evaluated if they are needed.
func (c *compiler) firstNonzero(list []ast.Expr, t types.Type, s vm.Shape) operand {
	dst := c.copyOf(list[0], t, s)
	m := c.mark()
	defer c.release(m)
	others := make([]operand, len(list))
	unobserved := len(list)
	for unobserved > 1 && c.isUnobserved(list[unobserved-1]) {
		unobserved--
	}
	for i := 1; i < unobserved; i++ {
		others[i] = c.copyOf(list[i], t, s)
	}
	end := newLabel()
	for i := 1; i < len(list); i++ {
		at := dst.reg
		if s.File != vm.Scalar {
			at = c.scalarRegister()
			c.do(vm.OpLen, at, dst.reg, 0)
		}
		c.jump(end, vm.OpIfNeK, at, 0, 0)
		if i < unobserved {
			c.move(dst, others[i])
			continue
		}
		inner := c.mark()
		c.moveInto(c.exprTo(list[i], t, &dst), &dst)
		c.release(inner)
	}
	c.bind(end)
	return dst
}

// isUnobserved reports whether nobody can observe that e is evaluated: it neither changes anything nor panics nor waits.
func (c *compiler) isUnobserved(e ast.Expr) bool {
	if c.source.Info.Types[e].Value != nil {
		return true
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		_, ok := c.source.Info.ObjectOf(e).(*types.Var)
		return ok
	case *ast.SelectorExpr:
		sel := c.source.Info.Selections[e]
		return sel != nil && sel.Kind() == types.FieldVal && !sel.Indirect() && c.isUnobserved(e.X)
	case *ast.UnaryExpr:
		return e.Op == token.SUB && c.isUnobserved(e.X)
	case *ast.BinaryExpr:
		return (e.Op == token.ADD || e.Op == token.SUB) && c.shapeOf(e).File == vm.Scalar && c.isUnobserved(e.X) && c.isUnobserved(e.Y)
	case *ast.CallExpr:
		f := c.calledFunction(e)
		return f != nil && len(e.Args) == 2 && (f.FullName() == "cmp.Compare" || f.FullName() == "strings.Compare") &&
			c.isUnobserved(e.Args[0]) && c.isUnobserved(e.Args[1])
	}
	return false
}

// compareTo compiles cmp.Compare for numbers and strings.
func (c *compiler) compareTo(dst uint16, x, y operand) {
	a, b := x.reg, y.reg
	switch kind := x.Type.Kind(); {
	case x.Width == "Str":
		c.native("cmp.Compare", &vm.Native{Run: func(_ *vm.Thread, nb, sb unsafe.Pointer) {
			*vm.IntAt(nb, dst) = int64(strings.Compare(*vm.StringAt(sb, a), *vm.StringAt(sb, b)))
		}})
	case isFloat(kind) && x.Type.Size() == 8:
		c.native("cmp.Compare", &vm.Native{Run: func(_ *vm.Thread, nb, _ unsafe.Pointer) {
			*vm.IntAt(nb, dst) = int64(cmp.Compare(*vm.FloatAt(nb, a), *vm.FloatAt(nb, b)))
		}})
	case isFloat(kind):
		c.native("cmp.Compare", &vm.Native{Run: func(_ *vm.Thread, nb, _ unsafe.Pointer) {
			*vm.IntAt(nb, dst) = int64(cmp.Compare(*(*float32)(unsafe.Add(nb, a)), *(*float32)(unsafe.Add(nb, b))))
		}})
	default:
		if isSigned(kind) || x.Type.Size() < 8 {
			c.do(vm.OpCmpI, dst, a, b)
			return
		}
		before := c.scalarRegister()
		c.do(vm.OpLtU, before, a, b)
		c.do(vm.OpLtU, dst, b, a)
		c.do(vm.OpSubI, dst, dst, before)
	}
}

func isFloat(k reflect.Kind) bool { return k == reflect.Float32 || k == reflect.Float64 }

// genericPackage contains the compiled loops over slices of ordered types that our versions of packages
// slices and sort call.
const genericPackage = "github.com/quernlab/quern/interp/generic/compiled"

// callOrdered compiles a call of a function of genericPackage. Its arguments must have the form
// reflect.ValueOf(s) for a slice s.
func (c *compiler) callOrdered(e *ast.CallExpr, o *types.Func, sig *types.Signature) []operand {
	symbol, ok := c.unit.config.Packages[genericPackage+"/"+o.Pkg().Name()][o.Name()]
	if !ok || symbol.Kind() != reflect.Func {
		c.fail(e, "a call of %s", o.FullName())
	}
	before := c.mark()
	var lists []operand
	for _, argument := range e.Args {
		lists = append(lists, c.snapshot(c.reflected(argument)))
	}
	c.release(before)
	var results []uint16
	var operands []operand
	for v := range sig.Results().Variables() {
		operands = append(operands, c.temporary(c.shape(e, v.Type())))
		results = append(results, operands[len(operands)-1].reg)
	}
	run := ordered(symbol.Interface(), lists, results)
	if run == nil {
		c.fail(e, "a call of %s", o.FullName())
	}
	c.native(o.FullName(), &vm.Native{Run: run})
	return operands
}

// ordered returns the native function that calls f with the slices in lists.
func ordered(f any, lists []operand, results []uint16) func(*vm.Thread, unsafe.Pointer, unsafe.Pointer) {
	list := func(i int, nb, sb unsafe.Pointer) reflect.Value { return lists[i].Get(nb, sb, lists[i].reg) }
	switch f := f.(type) {
	case func(reflect.Value):
		return func(_ *vm.Thread, nb, sb unsafe.Pointer) { f(list(0, nb, sb)) }
	case func(reflect.Value) bool:
		ok := results[0]
		return func(_ *vm.Thread, nb, sb unsafe.Pointer) { *vm.IntAt(nb, ok) = vm.BoolToInt(f(list(0, nb, sb))) }
	case func(reflect.Value) (bool, bool):
		r, ok := results[0], results[1]
		return func(_ *vm.Thread, nb, sb unsafe.Pointer) {
			is, known := f(list(0, nb, sb))
			*vm.IntAt(nb, r), *vm.IntAt(nb, ok) = vm.BoolToInt(is), vm.BoolToInt(known)
		}
	case func(reflect.Value) (int, bool):
		r, ok := results[0], results[1]
		return func(_ *vm.Thread, nb, sb unsafe.Pointer) {
			n, known := f(list(0, nb, sb))
			*vm.IntAt(nb, r), *vm.IntAt(nb, ok) = int64(n), vm.BoolToInt(known)
		}
	case func(_, _ reflect.Value) (bool, bool):
		r, ok := results[0], results[1]
		return func(_ *vm.Thread, nb, sb unsafe.Pointer) {
			is, known := f(list(0, nb, sb), list(1, nb, sb))
			*vm.IntAt(nb, r), *vm.IntAt(nb, ok) = vm.BoolToInt(is), vm.BoolToInt(known)
		}
	case func(_, _ reflect.Value) (int, bool):
		r, ok := results[0], results[1]
		return func(_ *vm.Thread, nb, sb unsafe.Pointer) {
			n, known := f(list(0, nb, sb), list(1, nb, sb))
			*vm.IntAt(nb, r), *vm.IntAt(nb, ok) = int64(n), vm.BoolToInt(known)
		}
	}
	return nil
}

// takesSlices reports whether all parameters are of type reflect.Value.
func takesSlices(sig *types.Signature) bool {
	for v := range sig.Params().Variables() {
		if types.TypeString(v.Type(), nil) != "reflect.Value" {
			return false
		}
	}
	return true
}

// reflected compiles the slice s of an argument reflect.ValueOf(s).
func (c *compiler) reflected(e ast.Expr) operand {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if ok && len(call.Args) == 1 {
		if f, ok := c.source.Info.Uses[desugar.CalledIdent(call.Fun)].(*types.Func); ok && f.FullName() == "reflect.ValueOf" {
			if _, ok := c.typeOf(call.Args[0]).Underlying().(*types.Slice); ok {
				return c.expr(call.Args[0], nil)
			}
		}
	}
	c.fail(e, "a reflect.Value")
	return operand{}
}
