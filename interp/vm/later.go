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
// to its Function, whose instruction makes Config.Compile compile the declaration with the same key and goes on with the
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
		code: []instruction{{op: opFirstCall, a: lends}, {op: opFirstCall}, {op: opInvalid}}, positions: []int{0, 0, 0}, start: 1,
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
