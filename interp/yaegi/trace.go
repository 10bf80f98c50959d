package yaegi

import (
	"sync"
	"time"

	"github.com/quernlab/quern/interp/stack"
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
