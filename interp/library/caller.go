package library

import (
	"errors"
	"io"
	"reflect"
	"runtime"
	"sync"

	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/vm"
	"github.com/quernlab/quern/interp/yaegi"
)

// callers implements the functions of packages runtime and debug that return parts of the
// stack. They return functions of cells with their current lines. The program counter of
// such a location is a number that the session assigns.
type callers struct {
	tracebacks Tracebacks
	stderr     io.Writer

	mu        sync.Mutex
	locations []diagnostics.Location // without a function if its name is not known
	counters  map[any]uintptr        // by diagnostics.Location, or by vm.FunctionID for a function value
}

const (
	// firstCounter is an address at which there is no code.
	firstCounter = 1 << 62
	// distance is that between two program counters. Programs subtract 1 from those that Callers returned, which are return addresses,
	// and some add it again.
	distance = 4
)

// Caller is runtime.Caller.
func (c *callers) Caller(skip int) (pc uintptr, file string, line int, ok bool) {
	var pcs [1]uintptr
	if c.Callers(skip+1, pcs[:]) == 0 {
		return 0, "", 0, false
	}
	f, _ := c.CallersFrames(pcs[:]).Next()
	return pcs[0], f.File, f.Line, true
}

// Callers is runtime.Callers.
func (c *callers) Callers(skip int, pcs []uintptr) int {
	n := 0
	for l := range c.tracebacks.Locations {
		if skip--; skip > 0 {
			continue // the first is Callers itself
		}
		if n == len(pcs) {
			break
		}
		pcs[n] = c.counter(l, l)
		n++
	}
	if skip <= 1 && n < len(pcs) {
		pcs[n] = goexit()
		n++
	}
	return n
}

// outermost is the outermost function of all goroutines.
const outermost = "runtime.goexit"

// goexit returns the program counter of outermost. Programs ignore the last frame of a stack, since it is never one of theirs.
var goexit = sync.OnceValue(func() uintptr {
	pc := make(chan uintptr)
	go func() {
		var pcs [8]uintptr
		pc <- pcs[runtime.Callers(0, pcs[:])-1]
	}()
	return <-pc
})

// counter returns the program counter for a key at a location.
func (c *callers) counter(key any, at diagnostics.Location) uintptr {
	c.mu.Lock()
	defer c.mu.Unlock()
	pc, ok := c.counters[key]
	if !ok {
		pc = firstCounter + distance*uintptr(len(c.locations)) + distance/2
		c.locations = append(c.locations, at)
		c.counters[key] = pc
	}
	return pc
}

// FunctionPointer returns the program counter of a function value. ok is false for functions that are not
// interpreted.
func (c *callers) FunctionPointer(v reflect.Value) (pc uintptr, ok bool) {
	id, ok := vm.Identify(v)
	if !ok {
		return 0, false
	}
	at, _ := c.tracebacks.Function(id)
	return c.counter(id, at), true
}

// at returns the location of a program counter.
func (c *callers) at(pc uintptr) (diagnostics.Location, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if pc < firstCounter || (pc-firstCounter)/distance >= uintptr(len(c.locations)) {
		return diagnostics.Location{}, false
	}
	return c.locations[(pc-firstCounter)/distance], true
}

// RuntimeFunc replaces runtime.Func in cells.
type RuntimeFunc struct {
	diagnostics.Location
	entry uintptr
}

// Name is Name of runtime.Func.
func (f *RuntimeFunc) Name() string {
	if f == nil {
		return ""
	}
	return f.Location.Function
}

// Entry is Entry of runtime.Func.
func (f *RuntimeFunc) Entry() uintptr { return f.entry }

// FileLine is FileLine of runtime.Func, for the program counter for which f was returned.
func (f *RuntimeFunc) FileLine(uintptr) (file string, line int) { return f.File, f.Line }

// errNoName is the panic of runtime.FuncForPC(reflect.ValueOf(f).Pointer()) for some functions of cells.
var errNoName = errors.New("runtime.FuncForPC: the name that this interpreted function has in compiled code is not known; pass a declared function or method that is not generic, or a program counter of runtime.Caller")

// FuncForPC is runtime.FuncForPC.
func (c *callers) FuncForPC(pc uintptr) *RuntimeFunc {
	f, ok := c.at(pc)
	switch {
	case ok && f.Function == "":
		panic(errNoName)
	case ok:
		return &RuntimeFunc{f, pc}
	}
	compiled := runtime.FuncForPC(pc)
	if compiled == nil {
		return nil
	}
	if name := compiled.Name(); name != outermost && yaegi.IsPlumbing(name) {
		panic(errNoName)
	}
	file, line := compiled.FileLine(pc)
	return &RuntimeFunc{diagnostics.Location{Function: compiled.Name(), File: file, Line: line}, compiled.Entry()}
}

// RuntimeFrame replaces runtime.Frame in cells.
type RuntimeFrame struct {
	PC       uintptr
	Func     *RuntimeFunc
	Function string
	File     string
	Line     int
	Entry    uintptr
}

// RuntimeFrames replaces runtime.Frames in cells.
type RuntimeFrames struct{ list []RuntimeFrame }

// CallersFrames is runtime.CallersFrames for program counters that Callers returned.
func (c *callers) CallersFrames(pcs []uintptr) *RuntimeFrames {
	frames := &RuntimeFrames{}
	for i, pc := range pcs {
		if l, ok := c.at(pc); ok {
			frames.list = append(frames.list, RuntimeFrame{pc, &RuntimeFunc{l, pc}, l.Function, l.File, l.Line, pc})
		} else if f, _ := runtime.CallersFrames(pcs[i : i+1]).Next(); f.Func != nil {
			l := diagnostics.Location{Function: f.Function, File: f.File, Line: f.Line}
			frames.list = append(frames.list, RuntimeFrame{f.PC, &RuntimeFunc{l, f.Entry}, l.Function, l.File, l.Line, f.Entry})
		}
	}
	return frames
}

// Next is Next of runtime.Frames.
func (f *RuntimeFrames) Next() (RuntimeFrame, bool) {
	if len(f.list) == 0 {
		return RuntimeFrame{}, false
	}
	first := f.list[0]
	f.list = f.list[1:]
	return first, len(f.list) > 0
}

func (c *callers) functions() Packages {
	return Packages{
		"runtime/runtime": {
			"Caller":        reflect.ValueOf(c.Caller),
			"Callers":       reflect.ValueOf(c.Callers),
			"CallersFrames": reflect.ValueOf(c.CallersFrames),
			"FuncForPC":     reflect.ValueOf(c.FuncForPC),
			"Frame":         reflect.ValueOf((*RuntimeFrame)(nil)),
			"Frames":        reflect.ValueOf((*RuntimeFrames)(nil)),
			"Func":          reflect.ValueOf((*RuntimeFunc)(nil)),
			"Stack":         reflect.ValueOf(func(buf []byte, all bool) int { return copy(buf, c.tracebacks.StackText()) }),
		},
		"runtime/debug/debug": functionsOf(map[string]any{
			"Stack":      func() []byte { return []byte(c.tracebacks.StackText()) },
			"PrintStack": func() { _, _ = io.WriteString(c.stderr, c.tracebacks.StackText()) },
		}),
	}
}
