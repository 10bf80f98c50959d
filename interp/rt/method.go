package rt

import (
	"go/types"
	"reflect"
	"slices"
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
	r.Type(id).setMethod(name, nil)
	r.registered.Add(1)
}

// Bound returns the method value x.name, or what code of cells calls instead. It panics as Go does if x is nil.
func (r *Registry) Bound(x any, name string) reflect.Value {
	if x == nil {
		panic(nilDereference)
	}
	v := reflect.ValueOf(x)
	key := methodKey{v.Type(), name}
	known, ok := r.bound.Load(key)
	if !ok {
		m, found := v.Type().MethodByName(name)
		if !found {
			panic(missingMethodError{v.Type().String(), name})
		}
		known = boundMethod{m.Index, r.replacement(x, name)}
		r.bound.Store(key, known)
	}
	m := known.(boundMethod)
	if m.replaced.IsValid() {
		return bind(m.replaced, v)
	}
	return r.guarded(v, v.Method(m.index))
}

// methodKey identifies a method of a compiled type.
type methodKey struct {
	typ  reflect.Type
	name string
}

// boundMethod is a method of a compiled type: its index, and what code of cells calls instead; the zero Value if that is nothing.
type boundMethod struct {
	index    int
	replaced reflect.Value
}

// replacement returns what code of cells calls instead of the method of a compiled x, or the zero Value.
func (r *Registry) replacement(x any, name string) reflect.Value {
	t, receiver := reflect.TypeOf(x), "("
	if _, ok := x.(reflect.Type); ok {
		t = reflect.TypeFor[reflect.Type]()
	} else if t.Kind() == reflect.Pointer {
		t, receiver = t.Elem(), "(*"
	}
	return r.config.Packages[Methods][receiver+t.PkgPath()+"."+t.Name()+")."+name]
}

// bind returns the function f with a first argument.
func bind(f, first reflect.Value) reflect.Value {
	t := f.Type()
	bound := reflect.FuncOf(slices.Collect(t.Ins())[1:], slices.Collect(t.Outs()), t.IsVariadic())
	return reflect.MakeFunc(bound, func(in []reflect.Value) []reflect.Value { return call(f, slices.Insert(in, 0, first)) })
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

// missingMethodError is the panic of a call to a method that the dynamic type of an interface value has no more: a later cell has declared a method
// with a pointer receiver that hides it, for example.
type missingMethodError struct{ typ, method string }

func (m missingMethodError) Error() string {
	return m.typ + " has no method " + m.method + " any more: a later cell has changed its methods, or those of a type that it embeds"
}

// CompileMethods sets the function that compiles and registers a method of a package when it is called for the first time.
func (r *Registry) CompileMethods(compile func(m *types.Func) error) { r.compiler = compile }
