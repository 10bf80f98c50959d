package vm

import (
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/interp/named"
)

// method is a method for calls through interfaces; it implements rt.MethodCode.
type method struct {
	vm       *VM
	entry    *Function // see compiler.interfaceEntry
	receiver *memoryType
	direct   bool // the data word is the receiver itself; see named.IsDirect
}

func (vm *VM) method(f *Function) *method {
	receiver := vm.memoryType(f.parameters[0].typ)
	return &method{vm, f.interfaceEntry, receiver, named.IsDirect(receiver.typ)}
}

// Type implements rt.MethodCode.
func (m *method) Type() reflect.Type { return m.entry.signature() }

// signature returns the type of f as a function of Go.
func (f *Function) signature() reflect.Type {
	in, out := make([]reflect.Type, len(f.parameters)), make([]reflect.Type, len(f.results))
	for i, s := range f.parameters {
		in[i] = s.typ
	}
	for i, s := range f.results {
		out[i] = s.typ
	}
	return reflect.FuncOf(in, out, false)
}

// Call implements rt.MethodCode.
func (m *method) Call(receiver unsafe.Pointer, arguments []reflect.Value) []reflect.Value {
	parameters, results := frameRegisters(m.entry.parameters), frameRegisters(m.entry.results)
	returned := make([]reflect.Value, len(results))
	m.vm.enter(m.entry, func(nb, sb unsafe.Pointer) {
		*pointerAt(sb, parameters[0]) = receiver
		for i, at := range parameters[1:] {
			m.entry.parameters[i+1].put(nb, sb, at, arguments[i])
		}
	}, func(nb, sb unsafe.Pointer) {
		for i, at := range results {
			returned[i] = m.entry.results[i].get(nb, sb, at)
		}
	}, nil)
	return returned
}

// Receiver implements rt.MethodCode.
func (m *method) Receiver(variable unsafe.Pointer) unsafe.Pointer {
	switch {
	case m.direct:
		return *(*unsafe.Pointer)(variable)
	case m.entry.wrapper:
		return variable // the function copies it before anything else
	}
	return m.receiver.clone(variable)
}
