package yaegi

import (
	"bytes"
	"io"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/quernlab/quern/interp/stack"
)

// A traceWriter is the standard error of the interpreter. The interpreter writes a line to
// it for each function that a panic passes, even if the panic is recovered later. The stack
// is still complete at the first of these lines: that is when the traceWriter records the
// trace. It writes everything else to out.
type traceWriter struct {
	out io.Writer

	mu     sync.Mutex
	traces map[uint64][]Frame // by goroutine, of its last panic
	spent  time.Duration      // on the traces of one cell
}

// Limits of the cost for programs that panic often.
const (
	maxTraces = 64 // that are kept
	maxSpent  = time.Second
)

func newTraceWriter(out io.Writer) *traceWriter {
	return &traceWriter{out: out, traces: map[uint64][]Frame{}}
}

// traceLine matches "5:9: panic: main.f(...)", or "-: panic: main.f(...)" for code of
// an evaluation whose line table is forgotten.
var traceLine = regexp.MustCompile(`^(?:-|(?:(.*?):)?(\d+):(\d+)): panic: main(?:\.(.*))?\(\.\.\.\)$`)

// Write implements io.Writer. The interpreter writes whole lines.
func (w *traceWriter) Write(p []byte) (int, error) {
	if !traceLine.Match(bytes.TrimSuffix(p, []byte("\n"))) {
		return w.out.Write(p)
	}
	if !isRaisedAgain() {
		w.record()
	}
	return len(p), nil
}

// note records the trace of a panic that is being recovered, unless Write has recorded it.
func (w *traceWriter) note() {
	w.mu.Lock()
	_, recorded := w.traces[stack.ID()]
	w.mu.Unlock()
	if !recorded || !isRaisedAgain() {
		w.record()
	}
}

// record stores the trace of the current panic of the calling goroutine.
func (w *traceWriter) record() {
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

// isRaisedAgain reports whether Write has recorded the panic before: the interpreter and
// deferred calls recover a panic and panic again with its value.
func isRaisedAgain() bool {
	var callers [16]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers[:])])
	raised := false
	for {
		f, more := frames.Next()
		if raised {
			return f.Function == Functions+"runCfg.func1" || strings.HasSuffix(f.Function, "interp/rt.(*Deferred).finish")
		}
		raised = f.Function == "runtime.gopanic"
		if !more {
			return false
		}
	}
}

// take returns and removes the trace of the calling goroutine. If the panic has not passed
// the interpreter, the trace is that of the current stack.
func (w *traceWriter) take() []Frame {
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
func (w *traceWriter) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spent = 0
}
