package library

import (
	"context"
	"reflect"
	"strings"

	"github.com/quernlab/quern/interp/control"
	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/stack"
)

var (
	contextType = reflect.TypeFor[context.Context]()
	errorType   = reflect.TypeFor[error]()
)

// contexts ends functions and methods of Quern's packages when the cell that calls them is interrupted.
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
			if f.IsValid() && f.Kind() == reflect.Func && takesContext(f.Type(), 0) {
				functions[name] = c.pass(f, 0)
			}
		}
	}
}

// method returns what cells call instead of m, a method of a compiled type; first is the index of its first parameter in m, which may
// have the receiver before.
func (c *contexts) method(receiver reflect.Type, m reflect.Value, first int) reflect.Value {
	if receiver.Kind() == reflect.Pointer {
		receiver = receiver.Elem()
	}
	path := receiver.PkgPath()
	if !strings.HasPrefix(path, control.OwnPackages) || strings.Contains(path, stack.Interp) || !takesContext(m.Type(), first) {
		return m // also for types of the interpreter, which call methods of cells
	}
	return c.pass(m, first)
}

// takesContext reports whether a function of type t uses the context in its parameter at only until it returns. A
// function that returns no error may keep it.
func takesContext(t reflect.Type, at int) bool {
	return t.NumIn() > at && t.In(at) == contextType && t.NumOut() > 0 && t.Out(t.NumOut()-1) == errorType
}

// pass returns f with a context in the parameter at that ends when its cell is interrupted. Functions of the cell that
// f calls then continue, so that f returns what it has.
func (c *contexts) pass(f reflect.Value, at int) reflect.Value {
	call := f.Call
	if f.Type().IsVariadic() {
		call = f.CallSlice
	}
	return reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
		m := c.goroutines.Member()
		ctx, ok := args[at].Interface().(context.Context)
		if m == nil || !ok {
			return call(args)
		}
		defer c.goroutines.BeginCall(m)()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer m.OnStop(cancel)()
		args[at] = reflect.ValueOf(&ctx).Elem()
		return unlessUnwound(f.Type(), call, args)
	})
}

// unlessUnwound returns the results of a call. If a function that it calls had to end, the error
// is that of its context.
func unlessUnwound(t reflect.Type, call func([]reflect.Value) []reflect.Value, args []reflect.Value) (results []reflect.Value) {
	last := t.NumOut() - 1
	defer func() {
		switch p := rt.Recovered(recover()); {
		case p == any(control.Unwound):
			results = make([]reflect.Value, last+1)
			for i := range results {
				results[i] = reflect.Zero(t.Out(i))
			}
		case p != nil:
			panic(p)
		case results == nil || results[last].Interface() != any(control.Unwound):
			return
		}
		results[last] = reflect.ValueOf(context.Canceled)
	}()
	return call(args)
}
