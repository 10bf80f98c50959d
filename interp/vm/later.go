package vm

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"unsafe"

	"github.com/quernlab/quern/interp/shared"
)

// firstCall is the state of a function that is compiled when it is called for the first time. Callers and function values refer
// to its Function, whose only instruction makes Config.Compile compile the declaration with the same key and goes on with the
// result.
type firstCall struct {
	key      any
	pending  *Function                // compiled, but not for callers yet; see Publish
	compiled shared.Pointer[Function] // nil before the first call
}

// Later declares a function without its body, which a later unit compiles at the first call. It returns an error if the VM does
// not support its parameters or results.
func (u *Unit) Later(d Declaration) error {
	f := &Function{
		name: d.Name, first: &firstCall{key: d.Key},
		code: []instruction{{op: opFirstCall}, {op: opInvalid}}, positions: []int{0, 0},
	}
	parameters := slices.Collect(d.Signature.Params().Variables())
	if recv := d.Signature.Recv(); recv != nil {
		parameters = slices.Insert(parameters, 0, recv)
	}
	var err error
	if f.parameters, err = u.vm.shapesOf(parameters); err != nil {
		return err
	}
	if f.results, err = u.vm.shapesOf(slices.Collect(d.Signature.Results().Variables())); err != nil {
		return err
	}
	c := code{vm: u.vm, unit: u, fn: f}
	for _, list := range [][]shape{f.parameters, f.results} {
		for _, s := range list {
			c.register(s)
		}
		c.release(mark{})
	}
	u.later = append(u.later, f)
	u.declared[d.Key] = f
	return nil
}

func (vm *VM) shapesOf(list []*types.Var) ([]shape, error) {
	shapes := make([]shape, len(list))
	for i, v := range list {
		var err error
		if shapes[i], err = vm.shapeOf(v.Type()); err != nil {
			return nil, err
		}
	}
	return shapes, nil
}

// linkLater makes the function values of functions without bodies.
func (u *Unit) linkLater() {
	for _, f := range u.later {
		in, out := make([]reflect.Type, len(f.parameters)), make([]reflect.Type, len(f.results))
		for i, s := range f.parameters {
			in[i] = s.typ
		}
		for i, s := range f.results {
			out[i] = s.typ
		}
		f.value = u.vm.makeValue(&closure{function: f}, reflect.FuncOf(in, out, false))
		f.pointer = functionPointer(f.value)
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

// body returns the compiled form of f, which is compiled if this is its first call.
func (f *Function) body(vm *VM) *Function {
	if body := f.first.compiled.Load(); body != nil {
		return body
	}
	if err := vm.config.Compile(f.first.key); err != nil {
		panic(err)
	}
	if body := f.first.compiled.Load(); body != nil {
		return body
	}
	panic(fmt.Errorf("function %s has not been compiled", f.name))
}

// CompilesLater reports whether the function with this key was declared by Later in an earlier unit.
func (vm *VM) CompilesLater(key any) bool { return vm.functions[key].waits() }

// StandIn makes the function with this key, which was declared by Later, call v. It returns an error if the types differ.
func (vm *VM) StandIn(key any, v reflect.Value) error {
	f := vm.functions[key]
	if err := f.checkType(v.Type()); err != nil {
		return err
	}
	vm.fill(f, f.trampoline(v.Type(), functionPointer(v)))
	return nil
}

// Bind sets the variable at address to the function with this key, of a unit, which may be nil, or an earlier one. It returns an
// error if the types differ.
func (vm *VM) Bind(unit *Unit, key any, address reflect.Value) error {
	f := vm.functions[key]
	if f == nil && unit != nil {
		f = unit.declared[key]
	}
	if f == nil {
		return fmt.Errorf("variable of type %s without a function", address.Type().Elem())
	}
	if err := f.checkType(address.Type().Elem()); err != nil {
		return err
	}
	address.Elem().Set(f.value)
	return nil
}

// waits reports whether f has been declared by Later.
func (f *Function) waits() bool { return f != nil && f.first != nil }

// replace makes callers of f call p.
func (f *Function) replace(t reflect.Type, p unsafe.Pointer) {
	f.replacement.Store(f.trampoline(t, p))
	if f.first != nil {
		if body := f.first.compiled.Load(); body != nil {
			body.replacement.Store(f.trampoline(t, p)) // it may call itself
		}
	}
}
