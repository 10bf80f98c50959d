package yaegi

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	upstream "github.com/traefik/yaegi/interp"
	unsafesymbols "github.com/traefik/yaegi/stdlib/unsafe"

	"github.com/quernlab/quern/interp/rt"
)

// An Interpreter evaluates lowered code. One evaluation runs at a time, and others wait for it; functions that it
// has defined may run concurrently.
type Interpreter struct {
	yaegi   *upstream.Interpreter
	mu      sync.Mutex   // held during an evaluation
	lasting map[int]bool // indices of variables that have no name any more but that code still uses
	trace   *traceWriter
}

// New returns an interpreter. What yaegi prints about a panic does not reach stderr.
func New(stdin io.Reader, stdout, stderr io.Writer) *Interpreter {
	i := &Interpreter{trace: newTraceWriter(stderr), lasting: map[int]bool{}}
	i.yaegi = upstream.New(upstream.Options{Stdin: stdin, Stdout: stdout, Stderr: i.trace, Unrestricted: true})
	return i
}

// Use adds compiled packages, keyed "path/name", or symbols to one.
//
// With the key "fmt/fmt", yaegi would replace functions of fmt, log, os and flag by its
// own, and compile its generic functions. With another key it uses the package unchanged.
func (i *Interpreter) Use(packages map[string]map[string]reflect.Value) error {
	tables := maps.Clone(packages)
	if table, ok := tables["fmt/fmt"]; ok {
		tables["fmt/quern"] = table
		delete(tables, "fmt/fmt")
	}
	// Yaegi's table of conversions to and from unsafe.Pointer.
	tables[conversions] = unsafesymbols.Symbols[conversions]
	return i.yaegi.Use(tables)
}

const conversions = "github.com/traefik/yaegi/yaegi"

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
	CheckBounds(program)
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

// Function returns a declared function that has no parameters and no results.
func (i *Interpreter) Function(name string) (func(), error) {
	v, err := i.Eval(name)
	if err != nil {
		return nil, err
	}
	return func() { v.Call(nil) }, nil
}

// Run calls f, the body of a cell. It sets failed to a *Panic if f panics, and does not return it: if f calls runtime.Goexit and then
// panics in a deferred call, the goroutine ends. The call is not an evaluation: an evaluation may begin while f waits.
func (i *Interpreter) Run(f func(), failed *error) {
	i.trace.reset()
	defer func() {
		if r := recover(); r != nil {
			i.trace.note()
			*failed = &Panic{rt.Recovered(r)}
		}
	}()
	f()
}

// CallValue makes yaegi compile calls of a declared function, by its name, as calls of the
// function's value. Yaegi does so for a function whose node has a value.
func (i *Interpreter) CallValue(function string) error {
	node, err := i.function(function)
	if err != nil {
		return err
	}
	v, err := i.Eval(function)
	if err != nil {
		return err
	}
	accessible(node, "rval").Set(reflect.ValueOf(reflect.ValueOf(v.Interface())))
	return nil
}

// Redirect makes calls of a declared function by its name call v.
//
// Goroutines may call the function at the same time. They copy the value of its node, and
// check the last word of the copy to see whether there is a value. So Redirect sets that
// word a while after the others.
func (i *Interpreter) Redirect(function string, v reflect.Value) error {
	node, err := i.function(function)
	if err != nil { // functions of the VM are variables
		p, err := i.Eval("&" + function)
		if err == nil {
			p.Elem().Set(v)
		}
		return err
	}
	to := (*valueWords)(accessible(node, "rval").Addr().UnsafePointer())
	from := (*valueWords)(unsafe.Pointer(&v))
	atomic.StorePointer(&to.typ, from.typ)
	atomic.StorePointer(&to.pointer, from.pointer)
	if atomic.LoadUintptr(&to.flag) != from.flag {
		time.Sleep(copyTime)
		atomic.StoreUintptr(&to.flag, from.flag)
	}
	return nil
}

// copyTime is much longer than it takes to copy a reflect.Value.
const copyTime = 2 * time.Millisecond

// valueWords are the words of a reflect.Value; flag is 0 in the zero Value.
type valueWords struct {
	typ, pointer unsafe.Pointer
	flag         uintptr
}

// function returns the node of a declared function.
func (i *Interpreter) function(name string) (reflect.Value, error) {
	if main := accessible(reflect.ValueOf(i.yaegi).Elem(), "scopes").MapIndex(reflect.ValueOf("main")); main.IsValid() {
		symbol := accessible(main.Elem(), "sym").MapIndex(reflect.ValueOf(name))
		if symbol.IsValid() {
			node := accessible(symbol.Elem(), "node")
			if !node.IsNil() && accessible(node.Elem(), "kind").Uint() == funcDecl {
				return node.Elem(), nil
			}
		}
	}
	return reflect.Value{}, &Error{"no function " + name}
}

// Frames returns the active functions of the stack of a goroutine, as the runtime
// prints it, innermost first: those of lowered code, and between them one compiled
// function for each call into compiled code. The goroutine must not run meanwhile.
func (i *Interpreter) Frames(stack string) []Frame { return framesOf(stack) }

// Trace returns the functions that were active where the last panic of the calling
// goroutine began, innermost first.
func (i *Interpreter) Trace() []Frame { return i.trace.take() }
