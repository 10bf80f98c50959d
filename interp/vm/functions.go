package vm

import (
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/interp/stopflag"
)

// New returns a VM without functions.
func New(config Config) *VM {
	vm := &VM{config: config, stop: config.Stopping, functions: map[any]*Function{}, types: map[reflect.Type]*MemoryType{}}
	if vm.stop == nil {
		vm.stop = new(stopflag.Flag)
	}
	if vm.config.Stop == nil {
		vm.config.Stop = func() {}
	}
	vm.threads.New = func() any { return newThread(vm) }
	if vm.config.Registry != nil {
		vm.config.Registry.EnterMethods(vm.Entry)
	}
	return vm
}

// Function returns the function with this key; nil if there is none.
func (vm *VM) Function(key any) *Function { return vm.functions[key] }

// Define makes f the function with this key. If that one waits for its first call, its callers get f after the next Publish.
func (vm *VM) Define(key any, f *Function) {
	if stub := vm.functions[key]; stub.waits() {
		vm.fill(stub, f)
	} else {
		vm.functions[key] = f
	}
}

// FirstCalled returns a function that Config.Compile compiles at its first call. It needs its parameters and results, and the size of
// a frame for them.
func FirstCalled(key any, name string) *Function {
	return &Function{
		Name: name, first: &firstCall{key: key},
		Code: []Instruction{{Op: OpFirstCall, A: Lends}, {Op: OpFirstCall}, {Op: OpInvalid}}, Positions: []int{0, 0, 0}, Start: 1,
	}
}

// fill makes f call body after the next Publish.
func (vm *VM) fill(f, body *Function) {
	f.first.pending = body
	vm.unpublished = append(vm.unpublished, f)
}

// Publish makes functions that have been compiled since the last call of Publish available to callers. Until then other
// goroutines that call one wait in Config.Compile, because variables that it uses may not have their values.
func (vm *VM) Publish() {
	for _, f := range vm.unpublished {
		f.first.compiled.Store(f.first.pending)
		f.replacement.CompareAndSwap(nil, f.first.pending) // unless f was redirected
		f.first.pending = nil
	}
	vm.unpublished = nil
}

// Redirect makes callers of the function with this key, call the function value v of the same type.
func (vm *VM) Redirect(key any, v reflect.Value) {
	if f := vm.functions[key]; f != nil {
		f.replace(v.Type(), FunctionPointer(v))
	}
}

// replace makes callers of f call p.
func (f *Function) replace(t reflect.Type, p unsafe.Pointer) {
	f.replacement.Store(f.trampoline(t, p))
	if f.first != nil {
		if body := f.first.compiled.Load(); body != nil {
			body.replacement.Store(f.trampoline(t, p)) // it may call itself
		}
	}
}

// trampoline returns code with the parameters and results of f that calls the function value p.
func (f *Function) trampoline(t reflect.Type, p unsafe.Pointer) *Function {
	x := &ForeignCall{typ: t, parameters: f.Parameters, Results: f.Results}
	return &Function{
		Code:      []Instruction{{Op: OpNative}, {Op: OpRet}, {Op: OpInvalid}},
		Positions: []int{0, 0, 0},
		Scalars:   f.Scalars, Pointers: f.Pointers,
		Parameters: f.Parameters, Results: f.Results,
		Natives: []*Native{{Name: "call " + f.Name, Run: func(_ *Thread, nb, sb unsafe.Pointer) { x.call(nb, sb, p) }}},
	}
}

// Sweep removes functions whose key satisfies gone: what is compiled later cannot call them. Compiled callers keep them alive.
func (vm *VM) Sweep(gone func(key any) bool) {
	for key := range vm.functions {
		if gone(key) {
			delete(vm.functions, key)
		}
	}
}

// Forget removes the function with this key.
func (vm *VM) Forget(key any) { delete(vm.functions, key) }

// ChangeMethods makes call sites look for their methods again.
func (vm *VM) ChangeMethods() { vm.epoch.Add(1) }

// UncompiledError reports that a function of a package could not be compiled when it was called for the first time.
type UncompiledError struct {
	Function string
	Err      error
}

func (e *UncompiledError) Error() string { return e.Function + " cannot be called: " + e.Err.Error() }

// Unwrap returns the reason.
func (e *UncompiledError) Unwrap() error { return e.Err }
