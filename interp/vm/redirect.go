package vm

import (
	"reflect"
	"sync/atomic"
	"unsafe"
)

// Redirect has calls of a function of a committed unit go to the function value v
// of the same type: of the one with that key, which the VM runs, and of the
// one that is called name in lowered code, which yaegi runs.
func (m *Machine) Redirect(key any, name string, v reflect.Value) {
	p := functionPointer(v)
	if f := m.functions[key]; f != nil {
		f.successor.Store(f.caller(v.Type(), p))
	}
	for _, g := range m.engine[name] {
		if g := g.Value(); g != nil {
			atomic.StorePointer(&g.value, p)
		}
	}
}

// caller is code with the parameters and results of f that calls the function
// value p.
func (f *Function) caller(t reflect.Type, p unsafe.Pointer) *Function {
	x := &foreign{typ: t, parameters: f.parameters, results: f.results}
	return &Function{
		code:      []instruction{{op: opNative}, {op: opRet}, {op: opInvalid}},
		positions: []int{0, 0, 0},
		scalars:   f.scalars, pointers: f.pointers,
		parameters: f.parameters, results: f.results,
		natives: []*native{{name: "call " + f.name, run: func(_ *thread, nb, sb unsafe.Pointer) { x.call(nb, sb, p) }}},
	}
}

// now returns the function that stands for f since it was declared again, or f.
func (f *Function) now() *Function {
	if s := f.successor.Load(); s != nil {
		return s
	}
	return f
}
