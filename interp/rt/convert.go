package rt

import (
	"fmt"
	"reflect"
)

// Convert asserts x to the compiled interface target. If ok, v implements the interface
// in compiled code.
func (r *Registry) Convert(x any, target *Type) (v any, ok bool) {
	b, isBox := r.unbox(x)
	if !isBox {
		return x, r.compiledImplements(x, target)
	}
	if !b.T.implementsInterface(target) {
		return nil, false
	}
	return r.wrap(b, target), true
}

// Assign converts x implicitly to the compiled interface target. nil stays nil.
func (r *representations) Assign(x any, target *Type) any {
	b, ok := r.unbox(x)
	if !ok {
		return x
	}
	return r.wrap(b, target)
}

// UncompiledMethodError reports that a method of a package could not be compiled when it was called for the first time.
type UncompiledMethodError struct {
	Type, Method string
	Err          error
}

func (e *UncompiledMethodError) Error() string {
	return "the method " + e.Method + " of " + e.Type + " cannot be called: " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *UncompiledMethodError) Unwrap() error { return e.Err }

// UnsupportedInterfaceError reports that a value of a cell cannot become a value of a
// compiled interface, because it has methods that cells cannot declare.
type UnsupportedInterfaceError struct {
	Type      string // of the value
	Interface string
}

func (e *UnsupportedInterfaceError) Error() string {
	return fmt.Sprintf("cannot use a value of type %s as %s: this interface can only be implemented by compiled types", e.Type, e.Interface)
}

// wrap returns b, whose type implements the compiled interface target, as a value that implements it in compiled code.
func (r *representations) wrap(b Box, target *Type) any {
	x := b.T.box(b.V)
	if target.compiled == nil || !reflect.TypeOf(x).Implements(target.compiled) {
		panic(&UnsupportedInterfaceError{b.T.name, target.name})
	}
	return x
}
