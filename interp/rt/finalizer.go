package rt

import (
	"fmt"
	"reflect"
	"runtime"

	goruntime "github.com/quernlab/quern/interp/rt/internal/runtime"
)

// SetFinalizer is runtime.SetFinalizer(x, f); run executes the finalizer. For wrong
// arguments it panics where the runtime ends the process. A pointer that does not point
// to the beginning of an object still ends the process.
func (r *Registry) SetFinalizer(x, f any, run func(func())) {
	fail := func(format string, a ...any) {
		panic(goruntime.ErrorString("runtime.SetFinalizer: " + fmt.Sprintf(format, a...)))
	}
	pointer := reflect.ValueOf(x)
	switch {
	case !pointer.IsValid():
		fail("first argument is nil")
	case pointer.Kind() != reflect.Pointer:
		fail("first argument is %T, not pointer", x)
	case pointer.IsNil():
		fail("pointer is nil")
	}
	address := pointer.Pointer()
	if f == nil {
		runtime.SetFinalizer(x, nil)
		r.finalized.Delete(address)
		return
	}
	function := reflect.ValueOf(f)
	t := function.Type()
	switch {
	case t.Kind() != reflect.Func:
		fail("second argument is %T, not a function", f)
	case t.IsVariadic():
		fail("cannot pass %T to finalizer %T because dotdotdot", x, f)
	case t.NumIn() != 1 || !pointer.Type().AssignableTo(t.In(0)):
		fail("cannot pass %T to finalizer %T", x, f)
	}
	if _, set := r.finalized.LoadOrStore(address, struct{}{}); set {
		fail("finalizer already set")
	}
	finalizer := reflect.FuncOf([]reflect.Type{pointer.Type()}, nil, false)
	runtime.SetFinalizer(x, reflect.MakeFunc(finalizer, func(in []reflect.Value) []reflect.Value {
		r.finalized.Delete(in[0].Pointer())
		run(func() { function.Call(in) })
		return nil
	}).Interface())
}
