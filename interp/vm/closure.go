package vm

import (
	"reflect"
	"unsafe"
)

// closure is a function value of the VM: a function and the addresses of the variables that it captures.
type closure struct {
	function *Function
	captured []unsafe.Pointer
}

// makeValue returns a Go function of type t that calls c. It is made by package reflect, so it can be
// called like any compiled function.
func (vm *VM) makeValue(c *closure, t reflect.Type) reflect.Value {
	return reflect.MakeFunc(t, vm.handler(c))
}

// makeClosure emits code that makes a function value of fn. The registers in from hold the addresses of the
// captured variables.
func (c *code) makeClosure(fn *Function, from []uint16, to operand) {
	at, vm := to.reg, c.vm
	fn.template = vm.makeValue(&closure{function: fn}, to.typ)
	template := functionPointer(fn.template)
	c.native("closure "+fn.name, &native{run: func(_ *thread, _, sb unsafe.Pointer) {
		f := newClosure(fn, len(from))
		for i, v := range from {
			f.captured[i] = *pointerAt(sb, v)
		}
		*pointerAt(sb, at) = vm.copyValue(template, f)
	}})
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
		return functionPointer(vm.makeValue(c, c.function.template.Type()))
	}
	h := vm.handler(c)
	return unsafe.Pointer(&stub{words: *(*[5]uintptr)(template), handler: *(*unsafe.Pointer)(unsafe.Pointer(&h))})
}

// functionPointer returns the pointer that represents a function value.
func functionPointer(v reflect.Value) unsafe.Pointer {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return *(*unsafe.Pointer)(p.UnsafePointer())
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
	results := make([]reflect.Value, len(f.results))
	vm.enter(f, func(nb, sb unsafe.Pointer) {
		for i, at := range frameRegisters(f.parameters) {
			f.parameters[i].put(nb, sb, at, arguments[i])
		}
	}, func(nb, sb unsafe.Pointer) {
		for i, at := range frameRegisters(f.results) {
			results[i] = f.results[i].get(nb, sb, at)
		}
	}, c.captured)
	return results
}

// frameRegisters returns the registers of parameters or results with these shapes, relative to the frame of
// the called function.
func frameRegisters(shapes []shape) []uint16 {
	at := make([]uint16, len(shapes))
	n, s := 0, 0
	for i, x := range shapes {
		if x.file == scalar {
			at[i] = uint16(n * 8)
			n++
		} else {
			at[i] = uint16(s*int(slotSize) + int(slotOffset))
			s++
		}
	}
	return at
}

// A function value points to a code pointer followed by the data of the closure. If package reflect made
// it, the handler is at handlerOffset; the handler is itself a closure of our code, with the *closure at
// closureOffset. findClosure measures the offsets. If it finds none, calls of function values go through
// package reflect.
var stubCode, handlerCode, handlerOffset, closureOffset uintptr

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

// closureOf returns the closure behind a function value of the VM, nil for any other function value.
func closureOf(p unsafe.Pointer) *closure {
	if *(*uintptr)(p) != stubCode || stubCode == 0 {
		return nil
	}
	h := *(*unsafe.Pointer)(unsafe.Add(p, handlerOffset))
	if *(*uintptr)(h) != handlerCode {
		return nil
	}
	return *(**closure)(unsafe.Add(h, closureOffset))
}

// foreignCall is a call of a function value that is not a closure of the VM.
type foreignCall struct {
	typ                 reflect.Type
	parameters, results []shape
	direct              adapter // nil: package reflect makes the call
}

// call calls the function at p. The arguments are in the registers of the frame at nb and sb; the results
// replace them.
func (f *foreignCall) call(nb, sb, p unsafe.Pointer) {
	if f.direct != nil {
		f.direct(p, nb, sb)
		return
	}
	arguments := make([]reflect.Value, len(f.parameters))
	for i, at := range frameRegisters(f.parameters) {
		arguments[i] = f.parameters[i].get(nb, sb, at)
	}
	results := call(reflect.NewAt(f.typ, unsafe.Pointer(&p)).Elem(), arguments)
	for i, at := range frameRegisters(f.results) {
		f.results[i].put(nb, sb, at, results[i])
	}
}
