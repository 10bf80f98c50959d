package structure

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp/symbols"
)

// TestNilArguments calls the functions of package accel and of those below it that return an error with nil for a context, and then
// for everything else that may be nil, which a cell has after an error that it ignored. Each must return an error that says so.
// The methods of types are not tested: those of a variable that is nil panic as in other packages.
func TestNilArguments(t *testing.T) {
	t.Chdir(t.TempDir())
	contexts, others := 0, 0
	for path, table := range symbols.Packages() {
		short, ok := strings.CutPrefix(path, "github.com/quernlab/quern/")
		if !ok || short != "accel" && !strings.HasPrefix(short, "accel/") {
			continue
		}
		for name, f := range table {
			if f.Kind() != reflect.Func || f.Type().NumOut() == 0 || f.Type().Out(f.Type().NumOut()-1) != reflect.TypeFor[error]() {
				continue
			}
			name = strings.TrimSuffix(short, "/"+path[strings.LastIndex(path, "/")+1:]) + "." + name
			takesContext, takesOther := nilArguments(f.Type())
			if takesContext {
				contexts++
				if err := callWithZeros(f, nil); err == nil || !strings.Contains(err.Error(), "the context is nil") {
					t.Errorf("%s without a context: %v", name, err)
				}
			}
			var wrong runtime.Error
			if takesOther {
				others++
				if err := callWithZeros(f, t.Context()); errors.As(err, &wrong) {
					t.Errorf("%s with nil: %v", name, err)
				}
			}
		}
	}
	if contexts < 50 || others < 70 {
		t.Errorf("only %d functions with contexts and %d with other arguments were found", contexts, others)
	}
}

// nilArguments reports whether a function takes a context, and whether it takes anything else that may be nil. Readers and
// writers are those of package io, whose functions panic for nil too.
func nilArguments(f reflect.Type) (contexts, others bool) {
	for i := range f.NumIn() {
		switch in := f.In(i); {
		case in == reflect.TypeFor[context.Context]():
			contexts = true
		case in.PkgPath() == "io":
			return contexts, false
		case f.IsVariadic() && i == f.NumIn()-1:
		case in.Kind() == reflect.Interface, in.Kind() == reflect.Pointer, in.Kind() == reflect.Func:
			others = true
		}
	}
	return contexts, others
}

// callWithZeros returns the error of a function for a context and otherwise zero values. A panic is an error too.
func callWithZeros(f reflect.Value, ctx context.Context) (err error) {
	in := make([]reflect.Value, 0, f.Type().NumIn())
	for i := range cap(in) {
		switch typ := f.Type().In(i); {
		case typ == reflect.TypeFor[context.Context]() && ctx != nil:
			in = append(in, reflect.ValueOf(ctx))
		case f.Type().IsVariadic() && i == cap(in)-1:
		default:
			in = append(in, reflect.Zero(typ))
		}
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			err = fmt.Errorf("panic: %w", p)
		default:
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	out := f.Call(in)
	err, _ = out[len(out)-1].Interface().(error)
	return err
}
