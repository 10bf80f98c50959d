package library

import (
	"io"
	"path"
	"reflect"
	"runtime"
	"strings"
	"sync"

	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/stack"
	"github.com/quernlab/quern/interp/vm"
)

// callers implements the functions of packages runtime and debug that return parts of the
// stack. They return functions of cells with their current lines. The program counter of
// such a location is a number that the session assigns.
type callers struct {
	tracebacks Tracebacks
	stderr     io.Writer

	replaced map[uintptr]string // the names of the functions that the session replaces, by the address of the replacement

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

// Callers is runtime.Callers. Programs ignore the last frame, or the last two of the main goroutine, since these are never theirs.
func (c *callers) Callers(skip int, pcs []uintptr) int {
	n, last := 0, ""
	for l := range c.tracebacks.Locations {
		last = l.Function
		if skip--; skip > 0 {
			continue // the first is Callers itself
		}
		if n == len(pcs) {
			break
		}
		pcs[n] = c.counter(l, l)
		n++
	}
	outermost := roots
	if last != "main.main" {
		outermost = roots[len(roots)-1:]
	}
	for _, pc := range outermost {
		if skip--; skip <= 0 && n < len(pcs) {
			pcs[n] = pc
			n++
		}
	}
	return n
}

// roots are the program counters of the outermost functions of the main goroutine, runtime.main and runtime.goexit.
var roots = func() []uintptr {
	var pcs [64]uintptr
	n := runtime.Callers(0, pcs[:]) // the main goroutine initializes packages
	return pcs[max(n-2, 0):n]
}()

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
	id.Position = 0 // until the function is compiled
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

// replace notes the names of functions that replace those of packages.
func (c *callers) replace(packages Packages) {
	for key, functions := range packages {
		for name, f := range functions {
			if f.Kind() == reflect.Func {
				c.replaced[f.Pointer()] = path.Dir(key) + "." + name
			}
		}
	}
}

// FuncForPC is runtime.FuncForPC. It returns nil for methods of cells that package reflect returns. Method values of interfaces have
// the name of functions that reflect.MakeFunc returns.
func (c *callers) FuncForPC(pc uintptr) *RuntimeFunc {
	l, ok := c.at(pc)
	if ok && l.Function != "" {
		return &RuntimeFunc{l, pc}
	}
	compiled := runtime.FuncForPC(pc)
	if compiled == nil {
		return nil
	}
	l.Function = compiled.Name()
	if name := c.replaced[pc]; name != "" {
		l.Function = name
	} else if strings.Contains(l.Function, stack.Interp) {
		return nil
	}
	l.File, l.Line = compiled.FileLine(pc)
	return &RuntimeFunc{l, compiled.Entry()}
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
