package yaegi

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/quernlab/quern/interp/stack"
	"github.com/quernlab/quern/interp/vm"
)

// A tracer records where panics began. The stack is still complete when the session recovers one.
type tracer struct {
	mu     sync.Mutex
	traces map[uint64][]Frame // by goroutine, of its last panic
	spent  time.Duration      // on the traces of one cell
}

// Limits of the cost for programs that panic often.
const (
	maxTraces = 64 // that are kept
	maxSpent  = time.Second
)

// record stores the trace of the current panic of the calling goroutine.
func (w *tracer) record() {
	w.mu.Lock()
	enough := w.spent > maxSpent
	w.mu.Unlock()
	if enough {
		return
	}
	start := time.Now()
	text := stack.Own()
	frames := panicFrames(text)
	id := stack.Goroutine(text)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.traces) >= maxTraces {
		clear(w.traces)
	}
	w.traces[id] = frames
	w.spent += time.Since(start)
}

// take returns and removes the trace of the calling goroutine. If there is none, the trace is that of the current stack.
func (w *tracer) take() []Frame {
	text := stack.Own()
	id := stack.Goroutine(text)
	w.mu.Lock()
	defer w.mu.Unlock()
	t, ok := w.traces[id]
	if !ok {
		return panicFrames(text)
	}
	delete(w.traces, id)
	return t
}

// reset drops all traces before the next cell.
func (w *tracer) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spent = 0
}

// A Frame is an active function.
type Frame struct {
	Function string // the name in lowered code, or the compiler's name; "" for unknown frames
	Compiled bool
	At       int // the position that the function last stored; 0 if it has stored none
}

// panicFrames returns the frames of a stack on which a panic is being reported.
func panicFrames(text string) []Frame {
	i := strings.Index(text, "\npanic(")
	return framesOf(text[max(i, 0):])
}

// framesOf implements Frames.
func framesOf(text string) []Frame {
	var list []Frame
	compiled := ""
	addCompiled := func() {
		if compiled != "" {
			list = append(list, Frame{Function: compiled, Compiled: true})
			compiled = ""
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "\t"), strings.HasPrefix(line, "goroutine "):
		case strings.HasPrefix(line, "created by "):
			return list
		case strings.HasPrefix(line, "..."):
			compiled = ""
			list = append(list, Frame{})
		case strings.HasPrefix(line, vm.Activation+"("):
			addCompiled()
			list = append(list, vmFrames(line[len(vm.Activation)+1:])...)
		case IsPlumbing(line):
		default:
			compiled = stack.VisibleName(line[:max(strings.LastIndexByte(line, '('), 0)])
		}
	}
	return list
}

// RunsCells reports whether text, a stack trace, has a function that runs code of cells.
func RunsCells(text []byte) bool { return bytes.Contains(text, []byte(vm.Activation+"(")) }

// pointer parses an argument that the runtime does not mark as stale.
func pointer(text string) (unsafe.Pointer, bool) {
	n, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	if err != nil || n == 0 {
		return nil, false
	}
	address := uintptr(n)
	return *(*unsafe.Pointer)(unsafe.Pointer(&address)), true
}

// vmFrames returns the functions of an activation of the VM.
func vmFrames(arguments string) (list []Frame) {
	first, _, _ := strings.Cut(arguments, ", ")
	if activation, ok := pointer(first); ok {
		for _, f := range vm.Active(activation) {
			list = append(list, Frame{Function: f.Name, At: f.Position})
		}
	}
	return list
}

// IsPlumbing reports whether a function on a stack is a helper between lowered code and the
// compiled code that it calls.
func IsPlumbing(function string) bool {
	for _, prefix := range []string{"runtime.", "reflect.", "internal/", "panic("} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return strings.Contains(function, stack.Interp)
}
