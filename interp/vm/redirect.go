package vm

import (
	"reflect"
	"sync/atomic"
	"unsafe"
)

// Redirect has calls of a function of a committed unit go to the function value v
// of the same type: of the one with that key, which the VM runs, and of the
// one that is called name in lowered code, which yaegi runs.
func (vm *VM) Redirect(key any, name string, v reflect.Value) {
	p := functionPointer(v)
	if f := vm.functions[key]; f != nil {
		f.replacement.Store(f.trampoline(v.Type(), p))
	}
	for _, g := range vm.interpreted[name] {
		if g := g.Value(); g != nil {
			atomic.StorePointer(&g.value, p)
		}
	}
}

// caller is code with the parameters and results of f that calls the function
// value p.
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

// now returns the function that stands for f since it was declared again, or f.
func (f *Function) current() *Function {
	if s := f.replacement.Load(); s != nil {
		return s
	}
	return f
}
