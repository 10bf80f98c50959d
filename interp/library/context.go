package library

import (
	"context"
	"reflect"
	"strings"

	"github.com/quernlab/quern/interp/control"
)

var (
	contextType = reflect.TypeFor[context.Context]()
	errorType   = reflect.TypeFor[error]()
)

// contexts ends functions of Quern's packages when the cell that calls them is interrupted.
type contexts struct{ goroutines Goroutines }

// wrap makes the functions of Quern's packages that take a context and return an error, such
// as accel.Fit, end when their cell is interrupted, even if the cell passes them
// context.Background(). These functions poll their context and cannot be ended otherwise.
func (c *contexts) wrap(packages Packages) {
	for path, functions := range packages {
		if !strings.HasPrefix(path, control.OwnPackages) {
			continue
		}
		for name, f := range functions {
			if f.IsValid() && f.Kind() == reflect.Func && takesContext(f.Type()) {
				functions[name] = c.pass(f)
			}
		}
	}
}

// takesContext reports whether a function of type t uses a context only until it returns. A
// function that returns no error may keep it.
func takesContext(t reflect.Type) bool {
	return t.NumIn() > 0 && t.In(0) == contextType && t.NumOut() > 0 && t.Out(t.NumOut()-1) == errorType
}

// pass returns f with a context that ends when its cell is interrupted.
func (c *contexts) pass(f reflect.Value) reflect.Value {
	return reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
		if ctx, ok := args[0].Interface().(context.Context); ok {
			ctx, cancel := c.untilStopped(ctx)
			defer cancel()
			args[0] = reflect.ValueOf(&ctx).Elem()
		}
		if f.Type().IsVariadic() {
			return f.CallSlice(args)
		}
		return f.Call(args)
	})
}

// untilStopped returns ctx, which also ends when the run of the calling goroutine is stopped.
func (c *contexts) untilStopped(ctx context.Context) (context.Context, context.CancelFunc) {
	m := c.goroutines.Member()
	if m == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	unwatch := context.AfterFunc(m.Context(), cancel)
	return ctx, func() { unwatch(); cancel() }
}
