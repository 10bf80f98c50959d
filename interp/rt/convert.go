package rt

import (
	"flag"
	"fmt"
	"io/fs"
	"reflect"
	"testing"
)

// AddWrapper sets the function that turns boxes into values of the compiled interface
// type t. Its result must have a method `Raw() any`, which it gets by embedding the
// Box, and may implement more than t. If the result does not implement t, yaegi's own
// wrapper is used. Call AddWrapper before the first cell runs.
func (r *representations) AddWrapper(t reflect.Type, wrap func(Box) any) { r.wrappers.Store(t, wrap) }

// Convert asserts x to the compiled interface target. If ok, v implements the interface
// in compiled code: it is x itself, or a wrapper of a boxed x.
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

// CanConvert reports whether boxed values of types that implement the compiled
// interface id can be passed to compiled code, which takes a wrapper. Package lower
// calls it to reject such a conversion at compile time.
func (r *Registry) CanConvert(id int) bool {
	t := r.Type(id)
	if t.compiled == nil {
		return false
	}
	_, native := r.wrappers.Load(t.compiled)
	return native || t.wrapper != nil || reflect.TypeFor[boxErrorStringerDisplayLogText]().Implements(t.compiled)
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
// compiled interface, because there is no compiled wrapper for it.
type UnsupportedInterfaceError struct {
	Type      string // of the value
	Interface string
}

func (e *UnsupportedInterfaceError) Error() string {
	return fmt.Sprintf("cannot use a value of type %s as %s: this interface can only be implemented by compiled types", e.Type, e.Interface)
}

// wrap returns b, whose type implements the compiled interface target, as a
// value that implements it in compiled code.
func (r *representations) wrap(b Box, target *Type) any {
	plain := b.T.box(b.V)
	if target.compiled == nil {
		panic(&UnsupportedInterfaceError{b.T.name, target.name})
	}
	if reflect.TypeOf(plain).Implements(target.compiled) {
		return plain
	}
	var native any
	if f, ok := r.wrappers.Load(target.compiled); ok {
		if w := f.(func(Box) any)(b); w != nil && reflect.TypeOf(w).Implements(target.compiled) {
			native = w
		}
	}
	if native != nil && (converting(target.compiled) || b.T.registry.covers(reflect.TypeOf(native), b.T)) {
		return native
	}
	if made := b.T.registry.wrapMade(b, target.compiled); made != nil {
		return made
	}
	if native != nil {
		return native
	}
	if target.wrapper == nil {
		panic(&UnsupportedInterfaceError{b.T.name, target.name})
	}
	return r.wrapByYaegi(plain, b, target)
}

// converting reports whether the methods of the wrappers of the interface t do more than call those of the box.
func converting(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[fs.FS](), reflect.TypeFor[testing.TB](), reflect.TypeFor[flag.Value]():
		return true
	}
	return t.PkgPath() == "database/sql/driver"
}

// wrapByYaegi fills yaegi's wrapper struct: the field IValue with the box, and a field
// WName for each method Name. It returns a pointer to the wrapper. A struct with
// function fields would make the runtime panic when compiled code compares two values
// of the interface.
func (r *representations) wrapByYaegi(plain any, b Box, target *Type) any {
	pointer := reflect.PointerTo(target.wrapper)
	r.yaegiWrappers.LoadOrStore(pointer, struct{}{})
	wrapper := reflect.New(target.wrapper)
	wrapper.Elem().Field(0).Set(reflect.ValueOf(plain))
	for i := 1; i < target.wrapper.NumField(); i++ {
		f := target.wrapper.Field(i)
		m := b.method(f.Name[len("W"):])
		wrapper.Elem().Field(i).Set(reflect.MakeFunc(f.Type, func(args []reflect.Value) []reflect.Value {
			return m.call(b, args...)
		}))
	}
	return wrapper.Interface()
}
