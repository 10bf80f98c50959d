package yaegi

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync"
	"unsafe"

	upstream "github.com/traefik/yaegi/interp"

	"github.com/quernlab/quern/interp/rt"
)

// An Interpreter evaluates lowered code. One evaluation runs at a time, and others wait for it; functions that it
// has defined may run concurrently.
type Interpreter struct {
	yaegi *upstream.Interpreter
	mu    sync.Mutex // held during an evaluation
	trace *tracer
}

// New returns an interpreter.
func New(stdin io.Reader, stdout, stderr io.Writer) *Interpreter {
	return &Interpreter{
		yaegi: upstream.New(upstream.Options{Stdin: stdin, Stdout: stdout, Stderr: stderr, Unrestricted: true}),
		trace: &tracer{traces: map[uint64][]Frame{}},
	}
}

// Use adds symbols to packages, keyed "path/name".
func (i *Interpreter) Use(packages map[string]map[string]reflect.Value) error {
	return i.yaegi.Use(packages)
}

// Eval evaluates declarations or one expression. The error is an *Error for a bug of the
// interpreter, and a *Panic for a panic of the evaluated code.
func (i *Interpreter) Eval(src string) (v reflect.Value, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.trace.reset()
	defer func() {
		// The compiler of yaegi panics on what it does not expect.
		if r := recover(); r != nil {
			err = &Error{fmt.Sprint(r)}
		}
	}()
	program, err := i.yaegi.Compile(src)
	if err != nil {
		return v, &Error{err.Error()}
	}
	v, err = i.yaegi.Execute(program)
	var p upstream.Panic
	switch {
	case err == nil:
		return v, nil
	case errors.As(err, &p):
		return v, &Panic{rt.Recovered(p.Value)}
	}
	return v, &Error{err.Error()}
}

// Address returns the address of a declared variable. An evaluation of "&name" would
// make the frame of global variables larger, which copies all of them.
func (i *Interpreter) Address(variable string) (reflect.Value, error) {
	v := reflect.ValueOf(i.yaegi).Elem()
	if main := accessible(v, "scopes").MapIndex(reflect.ValueOf("main")); main.IsValid() {
		symbol := accessible(main.Elem(), "sym").MapIndex(reflect.ValueOf(variable))
		if symbol.IsValid() && accessible(symbol.Elem(), "kind").Uint() == varSym {
			index := int(accessible(symbol.Elem(), "index").Int())
			data := accessible(accessible(v, "frame").Elem(), "data").Interface().([]reflect.Value)
			if index >= 0 && index < len(data) && data[index].CanAddr() {
				return data[index].Addr(), nil
			}
		}
	}
	return i.Eval("&" + variable)
}

// Run calls f, the body of a cell. It sets failed to a *Panic if f panics, and does not return it: if f calls runtime.Goexit and then
// panics in a deferred call, the goroutine ends. The call is not an evaluation: an evaluation may begin while f waits.
func (i *Interpreter) Run(f func(), failed *error) {
	i.trace.reset()
	defer func() {
		if r := recover(); r != nil {
			i.trace.record()
			*failed = &Panic{rt.Recovered(r)}
		}
	}()
	f()
}

// varSym is the kind of the symbols of variables.
var varSym = func() uint64 {
	t := field(field(field(reflect.TypeFor[upstream.Interpreter](), "universe").Elem(), "sym").Elem().Elem(), "kind")
	v := reflect.New(t).Elem()
	for i := range uint64(256) {
		v.SetUint(i)
		if s, ok := v.Interface().(interface{ String() string }); ok && s.String() == "varSym" {
			return i
		}
	}
	return ^uint64(0)
}()

func field(t reflect.Type, name string) reflect.Type {
	f, _ := t.FieldByName(name)
	return f.Type
}

// accessible returns a field of v, which may be unexported, as one that can be read
// and set.
func accessible(v reflect.Value, name string) reflect.Value {
	f := v.FieldByName(name)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

// Frames returns the active functions of the stack of a goroutine, as the runtime
// prints it, innermost first: those of lowered code, and between them one compiled
// function for each call into compiled code. The goroutine must not run meanwhile.
func (i *Interpreter) Frames(stack string) []Frame { return framesOf(stack) }

// Trace returns the functions that were active where the last panic of the calling
// goroutine began, innermost first.
func (i *Interpreter) Trace() []Frame { return i.trace.take() }
