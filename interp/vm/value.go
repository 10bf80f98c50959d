package vm

import (
	"reflect"
	"slices"
	"unsafe"

	"github.com/quernlab/quern/interp/named"
	"github.com/quernlab/quern/interp/rt"
)

// makeValue returns a Go function of type t that calls c. It is made by package reflect, so it can be
// called like any compiled function.
func (vm *VM) makeValue(c *closure, t reflect.Type) reflect.Value {
	return reflect.MakeFunc(t, vm.handler(c))
}

// Closure makes a function value of fn, of type t, in register at. The registers in from hold the addresses of the captured
// variables.
func (vm *VM) Closure(fn *Function, t reflect.Type, from []uint16, at uint16) *Native {
	fn.template = vm.makeValue(&closure{function: fn}, t)
	template := FunctionPointer(fn.template)
	return &Native{Run: func(_ *Thread, _, sb unsafe.Pointer) {
		f := newClosure(fn, len(from))
		for i, v := range from {
			f.captured[i] = *PointerAt(sb, v)
		}
		*PointerAt(sb, at) = vm.copyValue(template, f)
	}}
}

// newClosure returns a closure with n captured variables. Up to four share its allocation.
func newClosure(fn *Function, n int) *closure {
	if n > 4 {
		return &closure{fn, make([]unsafe.Pointer, n)}
	}
	c := &struct {
		closure
		few [4]unsafe.Pointer
	}{}
	c.function, c.captured = fn, c.few[:n:n]
	return &c.closure
}

// stub is the memory layout of the function value that package reflect makes: words that depend only on the
// type, then the handler. The template of a Function keeps what these words point to alive.
type stub struct {
	words   [5]uintptr
	handler unsafe.Pointer
}

// copyValue returns a function value for c, copied from the template of the same function. Package reflect
// takes several times as long.
func (vm *VM) copyValue(template unsafe.Pointer, c *closure) unsafe.Pointer {
	if handlerOffset != unsafe.Offsetof(stub{}.handler) {
		return FunctionPointer(vm.makeValue(c, c.function.template.Type()))
	}
	h := vm.handler(c)
	return unsafe.Pointer(&stub{words: *(*[5]uintptr)(template), handler: *(*unsafe.Pointer)(unsafe.Pointer(&h))})
}

// FunctionPointer returns the pointer that represents a function value.
func FunctionPointer(v reflect.Value) unsafe.Pointer {
	x := v.Interface() // a pointer to v would need a type that package reflect never forgets
	return InterfaceWords(&x)[1]
}

// handler returns the function that package reflect calls to run c. It must not be inlined: a copy of the
// literal in one caller would have another code pointer.
//
//go:noinline
func (vm *VM) handler(c *closure) func([]reflect.Value) []reflect.Value {
	return func(arguments []reflect.Value) []reflect.Value { return c.call(vm, arguments) }
}

func (c *closure) call(vm *VM, arguments []reflect.Value) []reflect.Value {
	f := c.function
	results := make([]reflect.Value, len(f.Results))
	vm.enter(f, func(nb, sb unsafe.Pointer) {
		for i, at := range FrameRegisters(f.Parameters) {
			f.Parameters[i].Put(nb, sb, at, arguments[i])
		}
	}, func(nb, sb unsafe.Pointer) {
		for i, at := range FrameRegisters(f.Results) {
			results[i] = f.Results[i].Get(nb, sb, at)
		}
	}, c.captured)
	return results
}

func init() { stubCode, handlerCode, handlerOffset, closureOffset = findClosure() }

func findClosure() (stub, code, handlerAt, closureAt uintptr) {
	c := &closure{}
	vm := &VM{}
	h := vm.handler(c)
	value := reflect.MakeFunc(reflect.TypeFor[func()](), h).Interface().(func())
	p, inner := *(*unsafe.Pointer)(unsafe.Pointer(&value)), *(*unsafe.Pointer)(unsafe.Pointer(&h))
	for at := uintptr(8); at <= 64 && handlerAt == 0; at += 8 {
		if *(*uintptr)(unsafe.Add(p, at)) == uintptr(inner) {
			handlerAt = at
		}
	}
	for at := uintptr(8); at <= 16; at += 8 {
		if *(*uintptr)(unsafe.Add(inner, at)) == uintptr(unsafe.Pointer(c)) {
			closureAt = at
		}
	}
	if handlerAt == 0 || closureAt == 0 {
		return 0, 0, 0, 0
	}
	return *(*uintptr)(p), *(*uintptr)(inner), handlerAt, closureAt
}

func (v *functionValue) made() *functionValue {
	v.once.Do(func() {
		v.value = v.vm.makeValue(&closure{function: v.f}, v.f.signature(nil))
		v.pointer = FunctionPointer(v.value)
	})
	return v
}

// Link gives f a function value. If earlier, which may be nil, waits for its first call, it has one, which f gets.
func (vm *VM) Link(f, earlier *Function) {
	if earlier.waits() {
		f.value = earlier.value
		return
	}
	f.value = &functionValue{vm: vm, f: f}
}

// Value returns f as a function of Go, after Link. A variadic parameter is a slice.
func (f *Function) Value() reflect.Value { return f.value.made().value }

// Pointer returns the pointer that represents Value, after Link.
func (f *Function) Pointer() unsafe.Pointer { return f.value.made().pointer }

// Method returns the method f, after its InterfaceEntry has been set, for calls through interfaces.
func (vm *VM) Method(f *Function) rt.MethodCode {
	receiver := vm.MemoryType(f.Parameters[0].Type)
	return &method{vm, f.InterfaceEntry, receiver, named.IsDirect(receiver.typ)}
}

// Type implements rt.MethodCode.
func (m *method) Type() reflect.Type { return m.entry.signature(reflect.TypeFor[unsafe.Pointer]()) }

// Call implements rt.MethodCode.
func (m *method) Call(receiver unsafe.Pointer, arguments []reflect.Value) []reflect.Value {
	parameters, results := FrameRegisters(m.entry.Parameters), FrameRegisters(m.entry.Results)
	returned := make([]reflect.Value, len(results))
	m.vm.enter(m.entry, func(nb, sb unsafe.Pointer) {
		*PointerAt(sb, parameters[0]) = receiver
		for i, at := range parameters[1:] {
			m.entry.Parameters[i+1].Put(nb, sb, at, arguments[i])
		}
	}, func(nb, sb unsafe.Pointer) {
		for i, at := range results {
			returned[i] = m.entry.Results[i].Get(nb, sb, at)
		}
	}, nil)
	return returned
}

// Receiver implements rt.MethodCode.
func (m *method) Receiver(variable unsafe.Pointer) unsafe.Pointer {
	switch {
	case m.direct:
		return *(*unsafe.Pointer)(variable)
	case m.entry.Wrapper, m.entry.LentReceiver:
		return variable // the function copies it before anything else, or only reads it
	}
	return m.receiver.clone(variable)
}

// A FunctionID identifies the code of a function value. Closures of one function literal have the same code.
type FunctionID struct {
	Name        string // in lowered code, of a literal with the suffix ".func"
	Literal     int    // index of the source position of a function literal; 0 for other functions
	MethodValue bool   // a method value of the method with that name
	Position    int    // index of a source position in a declared function; 0 if it is not compiled yet
}

// Identify returns the function behind a function value. The second result is false if the VM does not run it.
func Identify(v reflect.Value) (FunctionID, bool) {
	p := FunctionPointer(v)
	if p == nil {
		return FunctionID{}, false
	}
	c := closureOf(p)
	switch {
	case c == nil:
		return FunctionID{}, false
	case c.function.Method != nil:
		return FunctionID{Name: c.function.Method.Name, MethodValue: true, Position: c.function.Method.firstPosition()}, true
	case c.function.Name == "":
		return FunctionID{}, false
	}
	return FunctionID{Name: c.function.Name, Literal: c.function.Literal, Position: c.function.firstPosition()}, true
}

// firstPosition returns the first position of the code of f, or 0.
func (f *Function) firstPosition() int {
	if first := slices.IndexFunc(f.Positions, func(at int) bool { return at != 0 }); first >= 0 {
		return f.Positions[first]
	}
	return 0
}
