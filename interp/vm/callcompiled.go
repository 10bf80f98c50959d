package vm

import (
	"go/ast"
	"go/types"
	"reflect"
	"strings"
	"sync"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
)

// interpretedOnly are functions that are left to yaegi.
var interpretedOnly = map[string]bool{
	"time.AfterFunc": true, "time.Tick": true, "time.After": true, "time.NewTimer": true, "time.NewTicker": true,
	"(*sync.Cond).Wait": true, "(sync.Locker).Lock": true, "(*sync.Map).Clear": true, "(*sync.Pool).Get": true,
	"(*strings.Builder).Grow": true, "(*bytes.Buffer).Grow": true, // yaegi checks their arguments
	"(*time.Timer).Reset": true,
}

// mayCall reports whether the VM may call a function of a compiled package.
func (c *code) mayCall(o *types.Func) bool {
	if o.Pkg() == nil || interpretedOnly[o.FullName()] || o.Signature().TypeParams() != nil {
		return false
	}
	if o.FullName() == waitGroupGo {
		return c.vm.config.Guard != nil
	}
	return !c.mentionsGeneric(o.Signature())
}

// replacement returns what code of cells calls instead of a function of a compiled package, and whether there is such a function.
func (c *compiler) replacement(e ast.Node, o *types.Func) (reflect.Value, bool) {
	if o.FullName() == waitGroupGo {
		guard, cell := c.vm.config.Guard, c.source.Cell // the goroutine belongs to the cell
		return reflect.ValueOf(func(w *sync.WaitGroup, f func()) { w.Go(guard(cell, f)) }), true
	}
	if c.vm.config.Replacement == nil {
		return reflect.Value{}, false
	}
	name, ok := c.vm.config.Replacement(o)
	if !ok {
		return reflect.Value{}, false
	}
	f := c.vm.config.Packages[rt.Path+"/rt"][name]
	if !f.IsValid() {
		c.fail(e, "a call of %s", o.FullName())
	}
	return f, true
}

// isReplaced reports whether code of cells calls something else instead of a function of a compiled package.
func (c *code) isReplaced(o *types.Func) bool {
	if c.vm.config.Replacement == nil {
		return false
	}
	_, replaced := c.vm.config.Replacement(o)
	return replaced
}

func (c *code) mentionsGeneric(sig *types.Signature) bool {
	for _, tuple := range []*types.Tuple{sig.Params(), sig.Results()} {
		for v := range tuple.Variables() {
			if n, ok := types.Unalias(v.Type()).(*types.Named); ok && n.TypeArgs().Len() > 0 && !(tuple == sig.Results() && isSequence(n)) {
				return true
			}
		}
	}
	return false
}

// isSequence reports whether t is an instance of iter.Seq or iter.Seq2. To package reflect these are plain
// function types.
func isSequence(t *types.Named) bool {
	return t.Obj().Pkg() != nil && t.Obj().Pkg().Path() == "iter" && strings.HasPrefix(t.Obj().Name(), "Seq")
}

// callCompiled compiles the call of a function of a compiled package.
func (c *compiler) callCompiled(e *ast.CallExpr, o *types.Func, sig *types.Signature) []operand {
	if c.sortsSlice(e, o, sig) {
		return c.sortSlice(e, o, sig)
	}
	if methods := c.cellCollection(e, o, sig); methods != nil {
		return c.callCollection(e, o, sig, methods)
	}
	coroutine := o.FullName() == genericPackage+".Coroutine"
	if o.Pkg().Path() == genericPackage && !coroutine {
		return c.callOrdered(e, o, sig)
	}
	if !coroutine && !c.mayCall(o) {
		c.fail(e, "a call of %s", o.FullName())
	}
	if _, ok := ast.Unparen(e.Fun).(*ast.IndexExpr); ok {
		c.fail(e, "a generic function")
	}
	symbol, ok := c.replacement(e, o)
	if !ok {
		symbol, ok = c.vm.config.Packages[o.Pkg().Path()+"/"+o.Pkg().Name()][o.Name()]
	}
	if !ok || symbol.Kind() != reflect.Func {
		c.fail(e, "a call of %s", o.FullName())
	}
	if f, ok := symbol.Interface().(func(float64) float64); ok && !c.argumentCountDiffers(e, sig) {
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
	if !c.argumentCountDiffers(e, sig) {
		if results := c.callComplex(e, o.FullName(), symbol.Interface(), sig); results != nil {
			return results
		}
	}
	b := c.beginFrame()
	c.arguments(b, e, sig)
	return c.callSymbol(b, e, o.FullName(), symbol, sig)
}

// argumentCountDiffers reports whether a call does not have one argument for each parameter: it is
// variadic, or passes several results of another call.
func (c *code) argumentCountDiffers(e *ast.CallExpr, sig *types.Signature) bool {
	return len(e.Args) != sig.Params().Len()
}

// callCompiledMethod compiles the call of a method of a compiled type.
func (c *compiler) callCompiledMethod(e *ast.CallExpr, x *ast.SelectorExpr, m *types.Func, path []int, sig *types.Signature) []operand {
	if !c.mayCall(m) {
		c.fail(e, "a call of %s", m.FullName())
	}
	recv := m.Signature().Recv().Type()
	s := c.shape(e, recv)
	if f, ok := c.replacement(e, m); ok {
		if s.typ == reflect.TypeFor[reflect.Value]() && c.isDeferred(e) {
			c.fail(e, "a deferred call of %s", m.FullName()) // a function that it calls must not recover
		}
		b := c.beginFrame()
		c.argument(b, e, recv, func(want *operand) operand { return c.receiver(x, path, recv, want) })
		c.arguments(b, e, sig)
		return c.callSymbol(b, e, m.FullName(), f, sig)
	}
	method, ok := s.typ.MethodByName(m.Name())
	if !ok {
		c.fail(e, "a call of %s", m.FullName())
	}
	b := c.beginFrame()
	if s.file == memory && len(e.Args) == 0 {
		// Call the method of the pointer type: it copies the receiver, and there is a fast adapter for it.
		method, _ = reflect.PointerTo(s.typ).MethodByName(m.Name())
		c.argument(b, e, types.NewPointer(recv), func(want *operand) operand {
			at := c.address(c.receiver(x, path, recv, nil))
			return c.moveInto(operand{shape: c.shape(e, types.NewPointer(recv)), reg: at}, want)
		})
	} else {
		c.argument(b, e, recv, func(want *operand) operand { return c.receiver(x, path, recv, want) })
	}
	c.arguments(b, e, sig)
	if s.typ == reflect.TypeFor[reflect.Value]() && !rt.WorksOnZero[m.Name()] {
		c.validValue(e, b.parameters[0].reg, m.Name())
	}
	return c.callSymbol(b, e, m.FullName(), method.Func, sig)
}

// validValue panics if the reflect.Value whose address is in a register is zero. The panic of package reflect is that of yaegi when it
// dereferences nil.
func (c *compiler) validValue(e *ast.CallExpr, at uint16, method string) {
	if c.isDeferred(e) {
		c.fail(e, "a deferred call of reflect.Value.%s", method)
	}
	c.native("valid", &native{run: func(_ *thread, _, sb unsafe.Pointer) {
		rt.ValidValue(*(*reflect.Value)(*pointerAt(sb, at)), method)
	}})
}

const waitGroupGo = "(*sync.WaitGroup).Go"

// callSymbol compiles the call of the Go function f with the arguments in b.
func (c *compiler) callSymbol(b *callFrame, e ast.Node, name string, f reflect.Value, sig *types.Signature) []operand {
	if c.deferCall(e, b, nil, func(a *compiler, b *callFrame, _ []operand) { a.callSymbol(b, e, name, f, sig) }) {
		return nil
	}
	call := c.compiledCall(b, e, name, f.Type(), sig)
	if direct := call.adapter(); direct != nil {
		function := functionPointer(f)
		c.native(name, &native{run: func(_ *thread, nb, sb unsafe.Pointer) { direct(function, nb, sb) }})
	} else {
		c.native(name, &native{run: func(_ *thread, nb, sb unsafe.Pointer) { call.reflect(f, nb, sb) }})
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
		if p.typ != typ.In(i) {
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
		if r.typ != typ.Out(i) && !(r.typ.Kind() == reflect.Func && typ.Out(i).ConvertibleTo(r.typ)) {
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
	var out []reflect.Value
	if f.Type().IsVariadic() {
		out = f.CallSlice(arguments)
	} else {
		out = f.Call(arguments)
	}
	for i, r := range x.results {
		r.put(nb, sb, r.reg, out[i])
	}
}
