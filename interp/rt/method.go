package rt

import (
	"encoding/gob"
	"encoding/json"
	"fmt"
	"go/types"
	"io"
	"iter"
	"reflect"
)

// method is one entry of a method table: a function whose first parameter is the raw
// receiver.
type method struct {
	function any
	value    reflect.Value
}

func newMethod(f any) *method { return &method{f, reflect.ValueOf(f)} }

// Register adds the function f to the method table of the type id under name.
func (r *Registry) Register(id int, name string, f any) { r.Type(id).register(name, f) }

// Derive makes the method of the pointer type id call that of the type it points to.
func (r *Registry) Derive(id int, name string) { r.Type(id).methods.Delete(name) }

// Method returns the method name of the dynamic value x. For a boxed value, f is the
// registered function, to be called with receiver as its first argument. For a compiled
// value f is the method value, with its variadic parameter as a slice. Method panics as
// Go does if x is nil.
func (r *Registry) Method(x any, name string) (f, receiver any, boxed bool) {
	if b, ok := r.unbox(x); ok {
		return b.method(name).function, b.V, true
	}
	if x == nil {
		panic(nilDereference)
	}
	return r.bound(x, name), nil, false
}

// bound returns the method value x.name of a compiled x. It avoids reflection for the
// methods that cells call most.
func (r *Registry) bound(x any, name string) any {
	switch name {
	case "Error":
		if x, ok := x.(error); ok {
			return x.Error
		}
	case "String":
		if x, ok := x.(fmt.Stringer); ok {
			return x.String
		}
	case "Read":
		if x, ok := x.(io.Reader); ok {
			return x.Read
		}
	case "Write":
		if x, ok := x.(io.Writer); ok {
			return x.Write
		}
	case "Close":
		if x, ok := x.(io.Closer); ok {
			return x.Close
		}
	}
	if f := r.replacedMethod(x, name); f != nil {
		return f
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
	v = r.guarded(v, v.Method(index.(int)))
	if v.Type().IsVariadic() {
		v = reflect.MakeFunc(plainSignature(v.Type(), nil), v.CallSlice)
	}
	return v.Interface()
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

// plainSignature returns a function type with the parameters and results of f that is
// not variadic. If first is not nil, it becomes the first parameter.
func plainSignature(f, first reflect.Type) reflect.Type {
	var in, out []reflect.Type
	if first != nil {
		in = append(in, first)
	}
	for t := range f.Ins() {
		in = append(in, t)
	}
	for t := range f.Outs() {
		out = append(out, t)
	}
	return reflect.FuncOf(in, out, false)
}

// missingMethodError is the panic of a call to a method that is neither registered nor a
// method of the compiled type. It is a bug of package lower, not of the cell.
type missingMethodError struct{ typ, method string }

func (m missingMethodError) Error() string {
	return "rt: no method " + m.method + " is registered for " + m.typ
}

// CompileMethods sets the function that compiles and registers a method of a package when it is called for the first time.
func (r *Registry) CompileMethods(compile func(m *types.Func) error) { r.compiler = compile }

// method returns the entry of the method table. If lowered code has not registered one, method makes the session compile
// it, or creates it from the method of an embedded field or of the pointer's base type.
func (b Box) method(name string) *method {
	if m, ok := b.T.callable(name); ok {
		return m
	}
	if m := b.promote(name); m != nil {
		b.T.register(name, m.function)
		return m
	}
	panic(missingMethodError{b.T.name, name})
}

// promote creates the method that T has through an embedded field, or that *T has
// because T has it.
func (b Box) promote(name string) *method {
	selection := b.T.set.Load().find(name)
	if selection == nil {
		return nil
	}
	path := selection.Index()
	path = path[:len(path)-1]
	owner, typ := follow(reflect.ValueOf(b.V), b.T.typ, path)
	pointer, isPointer := typ.Underlying().(*types.Pointer)
	if isPointer && len(path) == 0 {
		owner = owner.Elem()
	}
	byPointer := false // the method has a pointer receiver, and the owner is a variable of the named type
	_, ofPointer := types.Unalias(selection.Obj().Type().(*types.Signature).Recv().Type()).(*types.Pointer)
	switch named, ok := types.Unalias(typ).(*types.Named); {
	case isPointer && (len(path) == 0 || !ofPointer):
		typ = pointer.Elem()
	case ok && !types.IsInterface(named):
		byPointer = ofPointer
	}
	if len(path) == 0 && isPointer {
		if named, ok := types.Unalias(typ).(*types.Named); ok && !types.IsInterface(named) {
			byPointer = ofPointer
		}
	}
	if byPointer {
		typ = types.NewPointer(typ)
	}
	receiver := func(raw reflect.Value) reflect.Value {
		v, _ := follow(raw.Elem(), b.T.typ, path)
		switch {
		case isPointer && len(path) == 0 && !byPointer:
			if v.IsNil() {
				panic(NilReceiver(typeString(typ) + "." + name))
			}
			return v.Elem()
		case isPointer && len(path) > 0 && !ofPointer:
			return indirect(v)
		case byPointer && v.Kind() != reflect.Pointer:
			return v.Addr()
		}
		return v
	}
	if b.T.registry.Mentions(typ) && !types.IsInterface(typ) {
		m, ok := b.T.registry.Describe(typ).callable(name)
		if !ok {
			return nil
		}
		return newMethod(reflect.MakeFunc(m.value.Type(), func(args []reflect.Value) []reflect.Value {
			x := receiver(args[0]).Interface()
			args[0] = reflect.ValueOf(&x).Elem()
			return m.value.Call(args)
		}).Interface())
	}
	return b.promoteCompiled(name, owner, receiver, byPointer)
}

// promoteCompiled is promote for a method of a compiled type, or of a field of interface
// type.
func (b Box) promoteCompiled(name string, owner reflect.Value, receiver func(reflect.Value) reflect.Value, byPointer bool) *method {
	if byPointer && owner.Kind() != reflect.Pointer {
		owner = reflect.New(owner.Type())
	}
	r := b.T.registry
	call := func(x any) any {
		if x == nil {
			panic(nilDereference)
		}
		if inner, ok := r.unbox(x); ok {
			m := inner.method(name)
			return reflect.MakeFunc(withoutFirst(m.value.Type()), func(args []reflect.Value) []reflect.Value {
				return m.value.Call(append([]reflect.Value{reflect.ValueOf(&inner.V).Elem()}, args...))
			}).Interface()
		}
		return r.bound(x, name)
	}
	if !owner.IsValid() || (owner.Kind() == reflect.Interface && owner.IsNil()) {
		panic(nilDereference)
	}
	sample := reflect.TypeOf(call(owner.Interface()))
	return newMethod(reflect.MakeFunc(plainSignature(sample, anyType), func(args []reflect.Value) []reflect.Value {
		return reflect.ValueOf(call(receiver(args[0]).Interface())).Call(args[1:])
	}).Interface())
}

func withoutFirst(f reflect.Type) reflect.Type {
	var in, out []reflect.Type
	for i := 1; i < f.NumIn(); i++ {
		in = append(in, f.In(i))
	}
	for t := range f.Outs() {
		out = append(out, t)
	}
	return reflect.FuncOf(in, out, false)
}

var anyType = reflect.TypeFor[any]()

// follow follows a path of field indices from v, which is of type t.
func follow(v reflect.Value, t types.Type, path []int) (reflect.Value, types.Type) {
	for _, i := range path {
		if pointer, ok := t.Underlying().(*types.Pointer); ok {
			v, t = indirect(v), pointer.Elem()
		}
		v, t = v.Field(i), t.Underlying().(*types.Struct).Field(i).Type()
	}
	return v, t
}

// indirect returns the value that v points to. It panics as Go does if v is nil.
func indirect(v reflect.Value) reflect.Value {
	if v.IsNil() {
		panic(nilDereference)
	}
	return v.Elem()
}
