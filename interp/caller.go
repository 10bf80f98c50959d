package interp

import (
	"errors"
	"reflect"
	"runtime"
	"sync"

	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/yaegi"
)

// callers are the functions of package runtime that look at the stack, for cells:
// they tell functions of cells and the places where these are: the line of the
// statement, and of a function that has ended, while its deferred calls run, that
// of its last one. A counter is a number that this session has given to such a
// place. Literals are all called func1.
type callers struct {
	tracebacks *diagnostics.Tracebacks

	mu       sync.Mutex
	places   []diagnostics.Location
	counters map[diagnostics.Location]uintptr
}

// firstCounter is where no code is.
const firstCounter = 1 << 62

// Caller is runtime.Caller.
func (c *callers) Caller(skip int) (pc uintptr, file string, line int, ok bool) {
	var pcs [1]uintptr
	if c.Callers(skip+1, pcs[:]) == 0 {
		return 0, "", 0, false
	}
	f, _ := c.at(pcs[0])
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
		pcs[n] = c.counter(l)
		n++
	}
	return n
}

// counter is the number of f.
func (c *callers) counter(f diagnostics.Location) uintptr {
	c.mu.Lock()
	defer c.mu.Unlock()
	pc, ok := c.counters[f]
	if !ok {
		pc = firstCounter + uintptr(len(c.places))
		c.places = append(c.places, f)
		c.counters[f] = pc
	}
	return pc
}

// at is the place with the number pc.
func (c *callers) at(pc uintptr) (diagnostics.Location, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if pc < firstCounter || pc-firstCounter >= uintptr(len(c.places)) {
		return diagnostics.Location{}, false
	}
	return c.places[pc-firstCounter], true
}

// RuntimeFunc stands for runtime.Func in cells.
type RuntimeFunc struct {
	diagnostics.Location
	entry uintptr
}

// Name is that of runtime.Func.
func (f *RuntimeFunc) Name() string {
	if f == nil {
		return ""
	}
	return f.Location.Function
}

// Entry is that of runtime.Func.
func (f *RuntimeFunc) Entry() uintptr { return f.entry }

// FileLine is that of runtime.Func, for the program counter that f was found by.
func (f *RuntimeFunc) FileLine(uintptr) (file string, line int) { return f.File, f.Line }

// errNoCounter is what becomes of runtime.FuncForPC(reflect.ValueOf(f).Pointer()),
// f a function of a cell.
var errNoCounter = errors.New("runtime.FuncForPC: functions of cells have no program counter of their own; runtime.Caller gives some that stand for places")

// FuncForPC is runtime.FuncForPC.
func (c *callers) FuncForPC(pc uintptr) *RuntimeFunc {
	f, ok := c.at(pc)
	if ok {
		return &RuntimeFunc{f, pc}
	}
	compiled := runtime.FuncForPC(pc)
	if compiled == nil {
		return nil
	}
	if name := compiled.Name(); name == "reflect.makeFuncStub" || yaegi.IsPlumbing(name) {
		panic(errNoCounter)
	}
	file, line := compiled.FileLine(pc)
	return &RuntimeFunc{diagnostics.Location{Function: compiled.Name(), File: file, Line: line}, compiled.Entry()}
}

// RuntimeFrame stands for runtime.Frame in cells.
type RuntimeFrame struct {
	PC       uintptr
	Func     *RuntimeFunc
	Function string
	File     string
	Line     int
	Entry    uintptr
}

// RuntimeFrames stands for runtime.Frames in cells.
type RuntimeFrames struct{ list []RuntimeFrame }

// CallersFrames is runtime.CallersFrames, of program counters that Callers gave.
func (c *callers) CallersFrames(pcs []uintptr) *RuntimeFrames {
	frames := &RuntimeFrames{}
	for _, pc := range pcs {
		if f, ok := c.at(pc); ok {
			frames.list = append(frames.list, RuntimeFrame{pc, &RuntimeFunc{f, pc}, f.Function, f.File, f.Line, pc})
		}
	}
	return frames
}

// Next is that of runtime.Frames.
func (f *RuntimeFrames) Next() (RuntimeFrame, bool) {
	if len(f.list) == 0 {
		return RuntimeFrame{}, false
	}
	first := f.list[0]
	f.list = f.list[1:]
	return first, len(f.list) > 0
}

// symbols are those of package runtime that c stands for.
func (c *callers) symbols() map[string]reflect.Value {
	return map[string]reflect.Value{
		"Caller":        reflect.ValueOf(c.Caller),
		"Callers":       reflect.ValueOf(c.Callers),
		"CallersFrames": reflect.ValueOf(c.CallersFrames),
		"FuncForPC":     reflect.ValueOf(c.FuncForPC),
		"Frame":         reflect.ValueOf((*RuntimeFrame)(nil)),
		"Frames":        reflect.ValueOf((*RuntimeFrames)(nil)),
		"Func":          reflect.ValueOf((*RuntimeFunc)(nil)),
	}
}
