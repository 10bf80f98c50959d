package rt

import (
	"go/types"
	"reflect"
	"runtime"
	"unsafe"
)

// SetFinalizer is runtime.SetFinalizer(x, f); run executes the finalizer. For wrong
// arguments it panics where the runtime ends the process. A pointer that does not point
// to the beginning of an object still ends the process.
func (r *Registry) SetFinalizer(x, f any, run func(func())) {
	fail := func(text string) { panic(runtimeError("runtime.SetFinalizer: " + text)) }
	pointer := reflect.ValueOf(r.Value(x))
	switch {
	case !pointer.IsValid():
		fail("first argument is nil")
	case pointer.Kind() != reflect.Pointer:
		fail("first argument is " + r.TypeName(x) + ", not pointer")
	case pointer.IsNil():
		fail("pointer is nil")
	}
	address := pointer.Pointer()
	if f == nil {
		runtime.SetFinalizer(pointer.Interface(), nil)
		r.finalized.Delete(address)
		return
	}
	of, function := r.viewOf(reflect.ValueOf(f))
	if of.kind() != reflect.Func {
		fail("second argument is " + r.TypeName(f) + ", not a function")
	}
	s := r.signatureOf(of)
	if s.t.IsVariadic() {
		fail("cannot pass " + r.TypeName(x) + " to finalizer " + r.TypeName(f) + " because dotdotdot")
	}
	argument := func(reflect.Value) reflect.Value { return reflect.Value{} }
	if s.t.NumIn() == 1 {
		argument = r.finalizerArgument(x, s.in(0))
	}
	if s.t.NumIn() != 1 || argument == nil {
		fail("cannot pass " + r.TypeName(x) + " to finalizer " + r.TypeName(f))
	}
	if _, set := r.finalized.LoadOrStore(address, struct{}{}); set {
		fail("finalizer already set")
	}
	t := reflect.FuncOf([]reflect.Type{pointer.Type()}, nil, false)
	runtime.SetFinalizer(pointer.Interface(), reflect.MakeFunc(t, func(in []reflect.Value) []reflect.Value {
		r.finalized.Delete(in[0].Pointer())
		run(func() { function.Call([]reflect.Value{argument(in[0])}) })
		return nil
	}).Interface())
}

// finalizerArgument returns a function that converts the object, which has the type of
// x, to an argument for the parameter, or nil if Go does not allow that.
func (r *Registry) finalizerArgument(x any, parameter view) func(object reflect.Value) reflect.Value {
	b, boxed := r.unbox(x)
	raw := reflect.TypeOf(r.Value(x))
	box := func(object reflect.Value) any {
		if boxed {
			return b.T.box(object.Interface())
		}
		return object.Interface()
	}
	switch {
	case parameter.t.Kind() == reflect.Interface:
		if _, ok := r.implementing(x, parameter); !ok {
			return nil
		}
		return func(object reflect.Value) reflect.Value {
			value, _ := r.implementing(box(object), parameter)
			v := reflect.New(parameter.t).Elem()
			v.Set(reflect.ValueOf(value))
			return v
		}
	case parameter.t != raw:
		return nil
	case parameter.d == nil && !boxed:
	case parameter.d == nil || !boxed || !types.Identical(parameter.d.typ, b.T.typ) && !types.Identical(parameter.d.typ.Underlying(), b.T.typ):
		return nil
	}
	return func(object reflect.Value) reflect.Value {
		return reflect.NewAt(parameter.t.Elem(), unsafe.Pointer(object.Pointer()))
	}
}
