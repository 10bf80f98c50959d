package rt

import (
	"fmt"
	"go/types"
	"reflect"

	goruntime "github.com/quernlab/quern/interp/rt/internal/runtime"
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

// Assign converts x implicitly to the interface target. nil stays nil.
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

// wrap returns b, whose type implements the interface target, as a value that implements it in compiled code if that is a compiled one.
func (r *representations) wrap(b Box, target *Type) any {
	x := b.T.box(b.V)
	if target.compiled != nil && !reflect.TypeOf(x).Implements(target.compiled) {
		panic(&UnsupportedInterfaceError{b.T.name, target.name})
	}
	return x
}

// TypeID returns the identifier of the type of a boxed x, and -1 for any other.
func (r *representations) TypeID(x any) int {
	if b, ok := r.unbox(x); ok {
		return b.T.id
	}
	return -1
}

// Is reports whether x is boxed and of the type id.
func (r *representations) Is(x any, id int) bool {
	b, ok := r.unbox(x)
	return ok && b.T.id == id
}

// As returns the raw value of x if x is boxed and of the type id.
func (r *representations) As(x any, id int) (v any, ok bool) {
	if b, ok := r.unbox(x); ok && b.T.id == id {
		return b.V, true
	}
	return nil, false
}

// Implements reports whether the dynamic type of x implements the interface
// target; nil has no type and implements nothing.
func (r *Registry) Implements(x any, target *Type) bool {
	if b, ok := r.unbox(x); ok {
		return b.T.implementsInterface(target)
	}
	return r.compiledImplements(x, target)
}

// implementsKey is a cache key: whether a type implements an interface.
type implementsKey struct {
	typ    any // a *Type, or the reflect.Type of a compiled type
	target *Type
}

// compiledImplements is Implements for a value that is not boxed.
func (r *Registry) compiledImplements(x any, target *Type) bool {
	if x == nil {
		return false
	}
	t := reflect.TypeOf(x)
	if target.compiled != nil {
		return t.Implements(target.compiled)
	}
	key := implementsKey{t, target}
	if known, ok := r.implements.Load(key); ok {
		return known.(bool)
	}
	ok := r.missingCompiled(t, target) == ""
	r.implements.Store(key, ok)
	return ok
}

// missingCompiled returns the name of the first method of the interface target
// that the compiled type t lacks, or "".
func (r *Registry) missingCompiled(t reflect.Type, target *Type) string {
	receiver := 1 // the number of parameters before those of the method
	if t.Kind() == reflect.Interface {
		receiver = 0
	}
	for _, want := range sortedMethods(target.typ.Underlying().(*types.Interface)) {
		have, ok := t.MethodByName(want.Name())
		if !ok || !want.Exported() || !r.sameSignature(have.Type, receiver, want.Type().(*types.Signature)) {
			return want.Name()
		}
	}
	return ""
}

// AssertionFailed panics with the error of a failed assertion of x to the type target, of which p is a raw nil pointer. source is the static
// type of x.
func (r *Registry) AssertionFailed(x any, source, target *Type, p any) {
	concrete, asserted, missing := reflect.TypeOf(x), r.TypeFor(target, p), ""
	if !types.IsInterface(target.typ) {
		panic(goruntime.AssertionError(r.InterfaceType(source), concrete, asserted, ""))
	}
	if b, ok := r.unbox(x); ok {
		missing = b.T.missingMethod(target)
	} else if x != nil {
		missing = r.missingCompiled(concrete, target)
	}
	panic(goruntime.AssertionError(nil, concrete, asserted, missing))
}
