package vm

import (
	"reflect"
	"unsafe"
)

// Redirect makes callers of the function with this key, of a committed unit, call the function value v of the same type.
func (vm *VM) Redirect(key any, v reflect.Value) {
	if f := vm.functions[key]; f != nil {
		f.replace(v.Type(), functionPointer(v))
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
