package kernel

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of the log. Records beyond them are dropped and counted.
const (
	maxRecords = 256                    // waiting to be written
	logDrain   = 200 * time.Millisecond // to write the waiting records at shutdown
)

// asyncHandler passes records to another handler without waiting for it. The log may be
// written to a pipe that nobody reads, so a write may block.
type asyncHandler struct {
	inner slog.Handler
	queue *recordQueue
}

// recordQueue holds the records that wait to be written.
type recordQueue struct {
	waiting chan func()
	dropped atomic.Int64
	closing chan struct{}
	done    chan struct{}
	once    sync.Once
}

func newAsyncHandler(inner slog.Handler) *asyncHandler {
	h := &asyncHandler{inner, &recordQueue{
		waiting: make(chan func(), maxRecords), closing: make(chan struct{}), done: make(chan struct{}),
	}}
	go h.run()
	return h
}

// run writes the waiting records until the handler is closed.
func (h *asyncHandler) run() {
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
			r := slog.NewRecord(time.Now(), slog.LevelError, "log records were dropped: nobody reads the log", 0)
			r.AddAttrs(slog.Int64("lines", n))
			_ = h.inner.Handle(context.Background(), r) // there is no place to report the error
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
func (h *asyncHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.inner.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h *asyncHandler) Handle(_ context.Context, r slog.Record) error {
	r = r.Clone()
	select {
	case h.queue.waiting <- func() { _ = h.inner.Handle(context.Background(), r) }:
	default:
		h.queue.dropped.Add(1)
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (h *asyncHandler) WithAttrs(attributes []slog.Attr) slog.Handler {
	return &asyncHandler{h.inner.WithAttrs(attributes), h.queue}
}

// WithGroup implements slog.Handler.
func (h *asyncHandler) WithGroup(name string) slog.Handler {
	return &asyncHandler{h.inner.WithGroup(name), h.queue}
}

// close writes the waiting records, for at most logDrain.
func (h *asyncHandler) close() {
	h.queue.once.Do(func() { close(h.queue.closing) })
	timeout := time.NewTimer(logDrain)
	defer timeout.Stop()
	select {
	case <-h.queue.done:
	case <-timeout.C:
	}
}
