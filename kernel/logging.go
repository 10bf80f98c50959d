package kernel

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// The bounds of the log. What does not fit is dropped, and counted.
const (
	maxRecords = 256                    // that wait to be written
	logDrain   = 200 * time.Millisecond // for what waits at the end
)

// patientHandler hands records to another handler without waiting for it: the pipe
// that the log is written to may be full, since nobody reads it.
type patientHandler struct {
	inner slog.Handler
	queue *recordQueue
}

// recordQueue holds records on their way to a handler.
type recordQueue struct {
	waiting chan func()
	dropped atomic.Int64
	closing chan struct{}
	done    chan struct{}
	once    sync.Once
}

func newPatientHandler(inner slog.Handler) *patientHandler {
	h := &patientHandler{inner, &recordQueue{
		waiting: make(chan func(), maxRecords), closing: make(chan struct{}), done: make(chan struct{}),
	}}
	go h.run()
	return h
}

// run hands on what waits until the handler is closed.
func (h *patientHandler) run() {
	q := h.queue
	defer close(q.done)
	for {
		select {
		case write := <-q.waiting:
			write()
			continue
		default:
		}
		if n := q.dropped.Swap(0); n > 0 {
			r := slog.NewRecord(time.Now(), slog.LevelError, "lines of the log are missing: nobody has read it", 0)
			r.AddAttrs(slog.Int64("lines", n))
			_ = h.inner.Handle(context.Background(), r) // there is nobody to report it to
		}
		select {
		case write := <-q.waiting:
			write()
		case <-q.closing:
			if len(q.waiting) == 0 {
				return
			}
		}
	}
}

// Enabled implements slog.Handler.
func (h *patientHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.inner.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h *patientHandler) Handle(_ context.Context, r slog.Record) error {
	r = r.Clone()
	select {
	case h.queue.waiting <- func() { _ = h.inner.Handle(context.Background(), r) }:
	default:
		h.queue.dropped.Add(1)
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (h *patientHandler) WithAttrs(attributes []slog.Attr) slog.Handler {
	return &patientHandler{h.inner.WithAttrs(attributes), h.queue}
}

// WithGroup implements slog.Handler.
func (h *patientHandler) WithGroup(name string) slog.Handler {
	return &patientHandler{h.inner.WithGroup(name), h.queue}
}

// close writes what waits, for a time.
func (h *patientHandler) close() {
	h.queue.once.Do(func() { close(h.queue.closing) })
	timeout := time.NewTimer(logDrain)
	defer timeout.Stop()
	select {
	case <-h.queue.done:
	case <-timeout.C:
	}
}
