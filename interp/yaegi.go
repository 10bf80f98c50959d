package interp

import (
	"errors"
	"fmt"
	"go/token"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	yaegi "github.com/traefik/yaegi/interp"
	unsafesymbols "github.com/traefik/yaegi/stdlib/unsafe"

	"github.com/quernlab/quern/interp/lower"
	"github.com/quernlab/quern/interp/rt"
)

// yaegiEngine is traefik/yaegi v0.16.1 as the module is. Some of its unexported
// fields are reached through unsafe; TestYaegiInternals pins them.
type yaegiEngine struct {
	interpreter *yaegi.Interpreter
	lasting     map[int]bool // places of variables without a name that code mentions
	trace       *traceWriter
}

// newYaegi returns an engine. What yaegi prints of a panic is kept from stderr.
func newYaegi(stdin io.Reader, stdout, stderr io.Writer) *yaegiEngine {
	e := &yaegiEngine{trace: newTraceWriter(stderr), lasting: map[int]bool{}}
	e.interpreter = yaegi.New(yaegi.Options{Stdin: stdin, Stdout: stdout, Stderr: e.trace, Unrestricted: true})
	return e
}

// Use implements engine. At the key "fmt/fmt" yaegi would put functions of its
// own into fmt, log, os and flag, and compile what it has for generics; under
// another key the package is the one that it is given.
func (e *yaegiEngine) Use(packages map[string]map[string]reflect.Value) error {
	tables := maps.Clone(packages)
	if table, ok := tables["fmt/fmt"]; ok {
		tables["fmt/quern"] = table
		delete(tables, "fmt/fmt")
	}
	// Its own table of conversions to and from unsafe.Pointer.
	tables[conversions] = unsafesymbols.Symbols[conversions]
	return e.interpreter.Use(tables)
}

const conversions = "github.com/traefik/yaegi/yaegi"

// Eval implements engine.
func (e *yaegiEngine) Eval(src string) (v reflect.Value, err error) {
	e.trace.reset()
	defer func() {
		// Its compiler panics on what it does not expect.
		if r := recover(); r != nil {
			err = &engineError{fmt.Sprint(r)}
		}
	}()
	v, err = e.interpreter.Eval(src)
	var p yaegi.Panic
	switch {
	case err == nil:
		return v, nil
	case errors.As(err, &p):
		return v, &panicError{rt.Recovered(p.Value)}
	}
	return v, &engineError{err.Error()}
}

// Address implements engine. An evaluation would make the frame of global variables
// larger, which copies all of them.
func (e *yaegiEngine) Address(variable string) (reflect.Value, error) {
	v := reflect.ValueOf(e.interpreter).Elem()
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
	return e.Eval("&" + variable)
}

// Run implements engine. The function is not called by an evaluation: another
// one may begin while it waits.
func (e *yaegiEngine) Run(function string) (err error) {
	v, err := e.Eval(function)
	if err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil {
			err = &panicError{rt.Recovered(r)}
		}
	}()
	v.Call(nil)
	return nil
}

// CallValue implements engine: a call of a function whose node has a value goes to
// that.
func (e *yaegiEngine) CallValue(function string) error {
	node, err := e.function(function)
	if err != nil {
		return err
	}
	v, err := e.Eval(function)
	if err != nil {
		return err
	}
	accessible(node, "rval").Set(reflect.ValueOf(reflect.ValueOf(v.Interface())))
	return nil
}

// Redirect implements engine. Goroutines may be calling the function: they copy the
// value of its node and look whether there is one by the last of its words, which is
// set when the others have been there for a while.
func (e *yaegiEngine) Redirect(function string, v reflect.Value) error {
	node, err := e.function(function)
	if err != nil { // a variable, of package machine
		p, err := e.Eval("&" + function)
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
		time.Sleep(untilSeen)
		atomic.StoreUintptr(&to.flag, from.flag)
	}
	return nil
}

// untilSeen is much longer than to copy a reflect.Value takes.
const untilSeen = 2 * time.Millisecond

// valueWords are the words of a reflect.Value; flag is 0 in one that is not valid.
type valueWords struct {
	typ, pointer unsafe.Pointer
	flag         uintptr
}

// function is the node of a declared function.
func (e *yaegiEngine) function(name string) (reflect.Value, error) {
	if main := accessible(reflect.ValueOf(e.interpreter).Elem(), "scopes").MapIndex(reflect.ValueOf("main")); main.IsValid() {
		symbol := accessible(main.Elem(), "sym").MapIndex(reflect.ValueOf(name))
		if symbol.IsValid() {
			node := accessible(symbol.Elem(), "node")
			if !node.IsNil() && accessible(node.Elem(), "kind").Uint() == funcDecl {
				return node.Elem(), nil
			}
		}
	}
	return reflect.Value{}, &engineError{"no function " + name}
}

// Forget implements engine. The trees of all evaluations and the scopes of all
// functions are there for yaegi's debugger; they are most of what a session of
// many cells would hold.
func (e *yaegiEngine) Forget(functions ...string) {
	v := reflect.ValueOf(e.interpreter).Elem()
	roots := accessible(v, "roots")
	for i := range roots.Len() {
		separate(roots.Index(i))
	}
	roots.SetZero()
	e.removeFiles()
	main := accessible(v, "scopes").MapIndex(reflect.ValueOf("main"))
	if !main.IsValid() {
		return
	}
	accessible(main.Elem(), "child").SetZero()
	symbols := accessible(main.Elem(), "sym")
	for _, name := range functions {
		symbols.SetMapIndex(reflect.ValueOf(name), reflect.Value{})
	}
}

// Keep implements engine. Each variable, and each temporary value of an evaluation,
// has a place in the frame of the interpreter for ever; what lies there is dropped.
func (e *yaegiEngine) Keep(known, mentioned map[string]bool) {
	v := reflect.ValueOf(e.interpreter).Elem()
	main := accessible(v, "scopes").MapIndex(reflect.ValueOf("main"))
	if !main.IsValid() {
		return
	}
	symbols := accessible(main.Elem(), "sym")
	used := map[int]bool{}
	for entries := symbols.MapRange(); entries.Next(); {
		name := entries.Key().String()
		index := -1
		if symbol := entries.Value().Elem(); accessible(symbol, "kind").Uint() == varSym {
			index = int(accessible(symbol, "index").Int())
			used[index] = true
		}
		short := strings.TrimSuffix(name, "ʹm")
		if !strings.Contains(name, "ʹ") || strings.Contains(name, "/") || known[short] || name == "stopʹ" || name == "positionʹ" {
			continue
		}
		if index >= 0 && !mentioned[name] {
			delete(used, index)
		}
		symbols.SetMapIndex(entries.Key(), reflect.Value{})
		if index >= 0 && mentioned[name] {
			e.lasting[index] = true
		}
	}
	if table := accessible(v, "binPkg").MapIndex(reflect.ValueOf(lower.TypesPath)); table.IsValid() {
		for _, name := range table.MapKeys() {
			if !known[name.String()] {
				table.SetMapIndex(name, reflect.Value{})
			}
		}
	}
	frame := accessible(v, "frame").Elem()
	mutex := accessible(frame, "mutex").Addr().Interface().(*sync.RWMutex)
	mutex.Lock()
	defer mutex.Unlock()
	data := accessible(frame, "data").Addr().Interface().(*[]reflect.Value)
	// Code that runs has the slice in hand.
	kept := slices.Clone(*data)
	for i := range kept {
		if !used[i] && !e.lasting[i] {
			kept[i] = reflect.Value{}
		}
	}
	*data = kept
}

// removeFiles forgets the line tables of all evaluations. Yaegi looks them up while
// it compiles, and for messages that are not shown.
func (e *yaegiEngine) removeFiles() {
	set := e.interpreter.FileSet()
	var files []*token.File
	set.Iterate(func(f *token.File) bool {
		files = append(files, f)
		return true
	})
	for _, f := range files {
		set.RemoveFile(f)
	}
}

// separate cuts the declarations of an evaluation off from each other: a symbol
// has the tree of its own, and would keep those of all others by the ancestors.
func separate(root reflect.Value) {
	children := accessible(root.Elem(), "child")
	for i := range children.Len() {
		accessible(children.Index(i).Elem(), "anc").SetZero()
	}
}

// accessible is a field, exported or not.
func accessible(v reflect.Value, name string) reflect.Value {
	f := v.FieldByName(name)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

// engineFunctions begins the names of all functions of the engine.
const engineFunctions = "github.com/traefik/yaegi/interp."

// isEngineError says whether yaegi itself raised an error, in code that cells
// became.
func isEngineError(err error) bool {
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return strings.HasPrefix(t.PkgPath(), "github.com/traefik/yaegi")
}

// engineText is what such an error says to whoever wrote the cell.
func engineText(err error) string {
	text := err.Error()
	if i := strings.Index(text, "interface conversion: "); i >= 0 {
		text = text[i:]
	}
	if strings.HasPrefix(text, "interface conversion: func(") {
		return "an interface holds a value with a method whose signature a later cell has changed: make the value again"
	}
	return text
}
