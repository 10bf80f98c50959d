package vm

import (
	"reflect"
	"unsafe"
)

// closure is a function value of the VM: a declared function, or a literal
// with the addresses of the variables that it has captured.
type closure struct {
	function *Function
	captured []unsafe.Pointer
}

// makeValue makes the function of Go that calls c. Package reflect makes it, so
// that it is called like any compiled function of its type.
func (vm *VM) makeValue(c *closure, t reflect.Type) reflect.Value {
	return reflect.MakeFunc(t, vm.handler(c))
}

// makeClosure makes a function value of fn with the variables whose addresses are in
// the registers from.
func (c *compiler) makeClosure(fn *Function, from []uint16, to operand) {
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

// newClosure makes a closure with n captured variables; few of them lie behind it.
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

// stub is the function value that package reflect makes: ahead of the handler there
// is what depends on its type alone. The template of a function, which a closure of it
// refers to, keeps what these words point to.
type stub struct {
	words   [5]uintptr
	handler unsafe.Pointer
}

// copyValue makes the function value for c from one of the same function. Package
// reflect takes several times as long.
func (vm *VM) copyValue(template unsafe.Pointer, c *closure) unsafe.Pointer {
	if handlerOffset != unsafe.Offsetof(stub{}.handler) {
		return functionPointer(vm.makeValue(c, c.function.template.Type()))
	}
	h := vm.handler(c)
	return unsafe.Pointer(&stub{words: *(*[5]uintptr)(template), handler: *(*unsafe.Pointer)(unsafe.Pointer(&h))})
}

// functionPointer returns what a variable of a function type holds.
func functionPointer(v reflect.Value) unsafe.Pointer {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return *(*unsafe.Pointer)(p.UnsafePointer())
}

// handler runs c for callers outside of the VM. A copy of it that the
// compiler made for one caller would have other code.
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

// places returns the registers that parameters or results with these shapes are in,
// relative to the frame of the called function.
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

// A function value points to a code pointer and what the code needs. That of one
// that package reflect made has the function given to it, ours, at handlerOffset;
// and that one has the VM and the closure behind its code pointer. Both are
// found out, not assumed: without them calls of function values go through
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

// closureOf returns the closure that a function value stands for, nil for any other
// function.
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

// foreign is the call of a function value that the VM does not know.
type foreignCall struct {
	typ                 reflect.Type
	parameters, results []shape
	direct              adapter // nil where package reflect has to make the call
}

// call calls the function at p with the arguments that lie in the registers of
// the frame at nb and sb, and puts the results there.
func (f *foreignCall) call(nb, sb, p unsafe.Pointer) {
	if f.direct != nil {
		f.direct(p, nb, sb)
		return
	}
	arguments := make([]reflect.Value, len(f.parameters))
	for i, at := range frameRegisters(f.parameters) {
		arguments[i] = f.parameters[i].get(nb, sb, at)
	}
	function := reflect.NewAt(f.typ, unsafe.Pointer(&p)).Elem()
	var results []reflect.Value
	if f.typ.IsVariadic() {
		results = function.CallSlice(arguments)
	} else {
		results = function.Call(arguments)
	}
	for i, at := range frameRegisters(f.results) {
		f.results[i].put(nb, sb, at, results[i])
	}
}
