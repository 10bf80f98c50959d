package interp

import (
	"bytes"
	"io"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/quernlab/quern/interp/machine"
)

// A traceWriter stands for standard error in the engine. The engine writes a
// line there for each function that a panic passes, also of one that is
// recovered, and the first of these while the stack is still whole: then the
// trace is taken. Everything else goes on to out.
type traceWriter struct {
	out io.Writer

	mu     sync.Mutex
	traces map[uint64][]frame // by goroutine, of its last panic
	spent  time.Duration      // on those of one cell
}

// Bounds of what programs that panic all the time cost.
const (
	maxTraces = 64 // that are kept
	maxSpent  = time.Second
)

func newTraceWriter(out io.Writer) *traceWriter {
	return &traceWriter{out: out, traces: map[uint64][]frame{}}
}

// traceLine is "5:9: panic: main.f(...)", or "-: panic: main.f(...)" for code of an
// evaluation whose lines are forgotten.
var traceLine = regexp.MustCompile(`^(?:-|(?:(.*?):)?(\d+):(\d+)): panic: main(?:\.(.*))?\(\.\.\.\)$`)

// Write implements io.Writer. The engine writes whole lines.
func (w *traceWriter) Write(p []byte) (int, error) {
	if !traceLine.Match(bytes.TrimSuffix(p, []byte("\n"))) {
		return w.out.Write(p)
	}
	if goesOn() {
		return len(p), nil
	}
	w.mu.Lock()
	enough := w.spent > maxSpent
	w.mu.Unlock()
	if enough {
		return len(p), nil
	}
	start := time.Now()
	text := ownStack()
	frames := panicFrames(text)
	id := goroutineOf(text)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.traces) >= maxTraces {
		clear(w.traces)
	}
	w.traces[id] = frames
	w.spent += time.Since(start)
	return len(p), nil
}

// panicFrames are the functions of a stack on which something reports a panic.
func panicFrames(stack string) []frame {
	i := strings.Index(stack, "\npanic(")
	return framesOf(stack[max(i, 0):])
}

// goesOn says whether the panic that Write is told of is one that it knows: the
// engine and deferred calls recover a panic and raise it again.
func goesOn() bool {
	var callers [16]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers[:])])
	raised := false
	for {
		f, more := frames.Next()
		if raised {
			return f.Function == engineFunctions+"runCfg.func1" || strings.HasSuffix(f.Function, "interp/rt.(*Deferred).finish")
		}
		raised = f.Function == "runtime.gopanic"
		if !more {
			return false
		}
	}
}

// ownStack is the stack of the calling goroutine: its first and its last fifty
// functions.
func ownStack() string {
	buf := make([]byte, 64<<10)
	return string(buf[:runtime.Stack(buf, false)])
}

// take returns and forgets the trace of the calling goroutine. Where the panic has
// not passed the engine the stack is still whole.
func (w *traceWriter) take() []frame {
	text := ownStack()
	id := goroutineOf(text)
	w.mu.Lock()
	defer w.mu.Unlock()
	t, ok := w.traces[id]
	if !ok {
		return panicFrames(text)
	}
	delete(w.traces, id)
	return t
}

// reset begins a cell.
func (w *traceWriter) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spent = 0
}

// framesOf finds the functions of lowered code in a stack, with the compiled ones
// that they called and that called them, folded to one.
func framesOf(stack string) []frame {
	var list []frame
	compiled := ""
	fold := func() {
		if compiled != "" {
			list = append(list, frame{function: compiled, compiled: true})
			compiled = ""
		}
	}
	for line := range strings.Lines(stack) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "\t"), strings.HasPrefix(line, "goroutine "):
		case strings.HasPrefix(line, "created by "):
			return list
		case strings.HasPrefix(line, "..."):
			compiled = ""
			list = append(list, frame{})
		case strings.HasPrefix(line, engineActivation):
			fold()
			if f, ok := activationFrame(line[len(engineActivation):]); ok {
				list = append(list, f)
			}
		case strings.HasPrefix(line, machine.Activation+"("):
			fold()
			list = append(list, machineFrames(line[len(machine.Activation)+1:])...)
		case isPlumbing(line):
		default:
			compiled = visibleName(line[:max(strings.LastIndexByte(line, '('), 0)])
		}
	}
	return list
}

// machineFrames are the functions of an activation of package machine.
func machineFrames(arguments string) (list []frame) {
	first, _, _ := strings.Cut(arguments, ", ")
	if activation, ok := pointer(first); ok {
		for _, f := range machine.Active(activation) {
			list = append(list, frame{function: f.Name, at: f.Position})
		}
	}
	return list
}

// isPlumbing says whether a function of a stack stands between lowered code and
// the compiled code that it calls.
func isPlumbing(line string) bool {
	for _, prefix := range []string{engineFunctions, "runtime.", "reflect.", "internal/", "panic("} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return strings.Contains(line, ownCode)
}
