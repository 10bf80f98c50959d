package rt

import (
	"encoding/gob"
	"encoding/json"
	"go/types"
	"iter"
	"reflect"
	"unsafe"
)

// MethodCode is a method that a cell declares, as package vm runs it.
type MethodCode interface {
	// Type returns the signature in lowered code, after a parameter of type unsafe.Pointer for the receiver. It is not variadic.
	Type() reflect.Type
	// Call runs the method. The receiver is the data word of an interface value that holds it.
	Call(receiver unsafe.Pointer, arguments []reflect.Value) []reflect.Value
	// Receiver returns the receiver for a call with the value of a variable, which may change during the call.
	Receiver(variable unsafe.Pointer) unsafe.Pointer
}

// Register adds a method to the method table of the type id under name.
func (r *Registry) Register(id int, name string, code MethodCode) {
	r.Type(id).register(name, code)
	r.registered.Add(1)
}

// Derive makes the method of the pointer type id call that of the type it points to.
func (r *Registry) Derive(id int, name string) {
	r.Type(id).methods.Delete(name)
	r.registered.Add(1)
}

// Bound returns the method value x.name. It panics as Go does if x is nil.
func (r *Registry) Bound(x any, name string) reflect.Value {
	if x == nil {
		panic(nilDereference)
	}
	if f := r.replacedMethod(x, name); f != nil {
		return reflect.ValueOf(f)
	}
	v := reflect.ValueOf(x)
	key := methodKey{v.Type(), name}
	index, ok := r.indices.Load(key)
	if !ok {
		m, found := v.Type().MethodByName(name)
		if !found {
			panic(missingMethodError{v.Type().String(), name})
		}
		index = m.Index
		r.indices.Store(key, index)
	}
	return r.guarded(v, v.Method(index.(int)))
}

// guarded returns what cells call instead of the method value m of x; see Config.Method.
func (r *Registry) guarded(x, m reflect.Value) reflect.Value {
	if r == nil || r.config.Method == nil || !m.IsValid() {
		return m
	}
	return r.config.Method(x.Type(), m, 0)
}

// MethodFunc returns what cells call instead of a method of a compiled type, with the receiver as the first parameter.
func (r *Registry) MethodFunc(receiver reflect.Type, m reflect.Method) reflect.Value {
	if r == nil || r.config.Method == nil {
		return m.Func
	}
	return r.config.Method(receiver, m.Func, 1)
}

// replacedMethod returns the replacement of the method of a compiled x, or nil if there
// is none. Such methods need to know the methods of interfaces of cells.
func (r *Registry) replacedMethod(x any, name string) any {
	switch t := x.(type) {
	case reflect.Type:
		switch name {
		case "NumMethod":
			return func() int { return r.TypeNumMethod(t) }
		case "Method":
			return func(i int) reflect.Method { return r.TypeMethod(t, i) }
		case "MethodByName":
			return func(name string) (reflect.Method, bool) { return r.TypeMethodByName(t, name) }
		case "Methods":
			return func() iter.Seq[reflect.Method] { return r.TypeMethods(t) }
		case "Implements":
			return func(u reflect.Type) bool { return r.TypeImplements(t, u) }
		case "AssignableTo":
			return func(u reflect.Type) bool { return r.TypeAssignableTo(t, u) }
		case "ConvertibleTo":
			return func(u reflect.Type) bool { return r.TypeConvertibleTo(t, u) }
		}
	case *json.Decoder:
		if name == "Decode" {
			return func(x any) error { return r.JSONDecode(t, x) }
		}
	case *gob.Decoder:
		if name == "Decode" {
			return func(x any) error { return r.DecodeGob(t, x) }
		}
	}
	return nil
}

// methodKey identifies a method of a compiled type.
type methodKey struct {
	typ  reflect.Type
	name string
}

// missingMethodError is the panic of a call to a method that is neither registered nor a
// method of the compiled type. It is a bug of package lower, not of the cell.
type missingMethodError struct{ typ, method string }

func (m missingMethodError) Error() string {
	return "rt: no method " + m.method + " is registered for " + m.typ
}

// CompileMethods sets the function that compiles and registers a method of a package when it is called for the first time.
func (r *Registry) CompileMethods(compile func(m *types.Func) error) { r.compiler = compile }
