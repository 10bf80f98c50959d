package interp

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	yaegi "github.com/traefik/yaegi/interp"
	unsafesymbols "github.com/traefik/yaegi/stdlib/unsafe"

	"github.com/quernlab/quern/interp/rt"
)

// yaegiEngine is traefik/yaegi v0.16.1 as the module is. Some of its unexported
// fields are reached through unsafe; TestYaegiInternals pins them.
type yaegiEngine struct {
	interpreter *yaegi.Interpreter
	trace       *traceWriter
	id          *uint64        // ends every frame that was made under another one
	done        *chan struct{} // closed to end waits for channels
	mutex       *sync.RWMutex  // guards done

	breaking sync.Mutex // guards the fields below
	running  bool
	current  uint64 // number of the last call of Run
	broken   bool
	saved    uint64
}

// newYaegi returns an engine. What yaegi prints of a panic is kept from stderr.
func newYaegi(stdin io.Reader, stdout, stderr io.Writer) *yaegiEngine {
	e := &yaegiEngine{trace: newTraceWriter(stderr)}
	e.interpreter = yaegi.New(yaegi.Options{Stdin: stdin, Stdout: stdout, Stderr: e.trace, Unrestricted: true})
	v := reflect.ValueOf(e.interpreter).Elem()
	e.id = accessible(v, "id").Addr().Interface().(*uint64)
	e.done = accessible(v, "done").Addr().Interface().(*chan struct{})
	e.mutex = accessible(v, "mutex").Addr().Interface().(*sync.RWMutex)
	// Without it yaegi compiles channel operations that cannot be ended.
	accessible(v, "cancelChan").SetBool(true)
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

// Run implements engine. The function is not called by an evaluation: another
// one may begin while it waits.
func (e *yaegiEngine) Run(function string) (err error) {
	current := e.begin()
	defer e.end(current)
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

// begin notes that Run begins. Each call has a channel of its own to end waits
// with, so that ending one spares the goroutines of others.
func (e *yaegiEngine) begin() (current uint64) {
	e.breaking.Lock()
	defer e.breaking.Unlock()
	e.running = true
	e.current++
	if !e.broken {
		e.renew()
	}
	return e.current
}

// end notes that Run ends, unless another one has begun.
func (e *yaegiEngine) end(current uint64) {
	e.breaking.Lock()
	defer e.breaking.Unlock()
	if e.current == current {
		e.running = false
	}
}

func (e *yaegiEngine) renew() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	*e.done = make(chan struct{})
}

// Break implements engine.
func (e *yaegiEngine) Break() {
	e.breaking.Lock()
	defer e.breaking.Unlock()
	if !e.running || e.broken {
		return
	}
	e.broken = true
	e.saved = atomic.AddUint64(e.id, 1) - 1
	e.mutex.Lock()
	close(*e.done)
	e.mutex.Unlock()
}

// Mend implements engine.
func (e *yaegiEngine) Mend() bool {
	e.breaking.Lock()
	defer e.breaking.Unlock()
	if e.broken {
		atomic.StoreUint64(e.id, e.saved)
	}
	return e.broken
}

// Resume implements engine. The evaluation of a literal gives the global frame,
// from which new frames inherit it, the new channel.
func (e *yaegiEngine) Resume() {
	e.breaking.Lock()
	if !e.broken {
		e.breaking.Unlock()
		return
	}
	e.broken = false
	e.renew()
	atomic.StoreUint64(e.id, e.saved)
	e.breaking.Unlock()
	_, _ = e.interpreter.Eval("0")
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

// channelWait matches those that wait for a channel of lowered code.
var channelWait = regexp.MustCompile(`^(recv|recv2|rangeChan|send|_select)\.func`)

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
