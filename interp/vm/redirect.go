package vm

import (
	"reflect"
	"sync/atomic"
	"unsafe"
)

// Redirect replaces a function of a committed unit by the function value v of the same type. The function
// is the one with this key, if the VM runs it, or the one with this name in lowered code, if yaegi runs it.
func (vm *VM) Redirect(key any, name string, v reflect.Value) {
	p := functionPointer(v)
	if f := vm.functions[key]; f != nil {
		f.replace(v.Type(), p)
	}
	for _, g := range vm.interpreted[name] {
		if g := g.Value(); g != nil {
			atomic.StorePointer(&g.value, p)
		}
	}
}

// trampoline returns code with the parameters and results of f that calls the function value p.
func (f *Function) trampoline(t reflect.Type, p unsafe.Pointer) *Function {
	x := &foreignCall{typ: t, parameters: f.parameters, results: f.results}
	return &Function{
		code:      []instruction{{op: opNative}, {op: opRet}, {op: opInvalid}},
		positions: []int{0, 0, 0},
		scalars:   f.scalars, pointers: f.pointers,
		parameters: f.parameters, results: f.results,
		natives: []*native{{name: "call " + f.name, run: func(_ *thread, nb, sb unsafe.Pointer) { x.call(nb, sb, p) }}},
	}
}

// current returns the function that replaced f, or f.
func (f *Function) current() *Function {
	if s := f.replacement.Load(); s != nil {
		return s
	}
	return f
}
