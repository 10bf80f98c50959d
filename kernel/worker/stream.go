package worker

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quernlab/quern/kernel/worker/mark"
)

// stream reads one of the worker's output streams and passes the output to the notebook,
// with the cell that it belongs to.
type stream struct {
	index      int // stdout or stderr
	name       string
	begun      int           // the cell that the worker has begun last; 0 before the first one
	late       int           // the earlier cell that the output belongs to now; 0 for none
	running    *atomic.Int64 // the cell that the kernel process has sent last
	notebook   Notebook
	rendezvous *rendezvous
	crash      *crashFilter   // holds back crash reports; nil for stdout
	startup    *startupOutput // keeps the output before the worker is ready; nil for stdout
	log        *slog.Logger
}

// readBytes is the size of a pipe on Linux: one read can empty it.
const readBytes = 64 << 10

// run reads until the end of the stream, which comes when the last process that holds the
// pipe has exited.
func (s *stream) run(r io.Reader, token string) {
	defer s.rendezvous.end(s.index)
	scanner, buffer := mark.NewScanner(token), make([]byte, readBytes)
	for {
		n, err := r.Read(buffer)
		scanner.Scan(buffer[:n], s.output, s.found)
		s.rendezvous.progress()
		if err != nil {
			s.output(scanner.Rest())
			return
		}
	}
}

func (s *stream) output(text []byte) {
	// The worker marks the start of each cell. Output before that mark belongs to the
	// previous cell, even if the kernel process has already sent the next one.
	cell := cmp.Or(s.late, s.begun, int(s.running.Load()))
	if s.startup != nil {
		s.startup.add(text)
	}
	if s.crash != nil {
		text = s.crash.filter(cell, text)
	}
	if len(text) > 0 {
		s.notebook.Stream(cell, s.name, text)
	}
}

func (s *stream) found(m mark.Mark) {
	if s.crash != nil {
		s.crash.release() // a process that still writes marks has not crashed
	}
	waited := true
	switch m.Kind {
	case mark.CellStart:
		s.begun, s.late = int(m.Number), 0
	case mark.Attribute:
		s.late = int(m.Number)
	case mark.Event:
		s.rendezvous.reach(s.index, m.Number)
		waited = s.rendezvous.awaitEvent(m.Number)
	case mark.Switch:
		s.rendezvous.reach(s.index, m.Number)
		waited = s.rendezvous.awaitOther(s.index, m.Number)
	case mark.Flush:
		s.rendezvous.reach(s.index, m.Number)
	}
	if !waited {
		s.log.Warn("output may be out of order", "stream", s.name, "mark", m.Number)
	}
}

// rendezvous makes the readers of the two output streams and of the link wait for each
// other at marks. Mark numbers only grow.
type rendezvous struct {
	timeout time.Duration
	stopped func() bool // the worker is stopped by a signal, so a missing mark may still come

	mu      sync.Mutex
	reached [streams]uint64 // the last mark read from each stream
	ended   [streams]bool   // the stream is at its end
	handled uint64          // the last mark whose event has been handled
	closed  bool            // the link has ended, so no more events come
	changed chan struct{}   // closed at each change
}

const (
	stdout = iota
	stderr
	streams
)

// markTimeout bounds the wait for a mark, counted from the last progress. A mark may
// never come: a cell may have closed the descriptor, or a write may have failed.
const markTimeout = 5 * time.Second

func newRendezvous(stopped func() bool) *rendezvous {
	return &rendezvous{timeout: markTimeout, stopped: stopped, changed: make(chan struct{})}
}

// update changes the state and wakes all waiting goroutines.
func (r *rendezvous) update(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	close(r.changed)
	r.changed = make(chan struct{})
}

// wait waits until done returns true, ctx ends, or nothing has happened for the timeout.
// It returns the last result of done.
func (r *rendezvous) wait(ctx context.Context, done func() bool) bool {
	r.mu.Lock()
	if done() {
		r.mu.Unlock()
		return true
	}
	r.mu.Unlock()
	// The time is divided, so that a pause of this process counts for little of it.
	const parts = 10
	timeout, left := time.NewTimer(r.timeout/parts), parts
	defer timeout.Stop()
	for {
		r.mu.Lock()
		ok, changed := done(), r.changed
		r.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-changed:
			left = parts
		case <-ctx.Done():
			return false
		case <-timeout.C:
			if left--; left == 0 && !r.stopped() {
				return false
			}
			left = max(left, 1)
		}
		timeout.Reset(r.timeout / parts)
	}
}

// progress records that output was read, which restarts the timeout.
func (r *rendezvous) progress() { r.update(func() {}) }

// reach records that a mark was read from a stream.
func (r *rendezvous) reach(stream int, number uint64) {
	r.update(func() { r.reached[stream] = number })
}

// end records that a stream has ended.
func (r *rendezvous) end(stream int) {
	r.update(func() { r.ended[stream] = true })
}

// handle records that all events up to a mark have been handled.
func (r *rendezvous) handle(number uint64) {
	r.update(func() { r.handled = max(r.handled, number) })
}

// close records that the link has ended.
func (r *rendezvous) close() {
	r.update(func() { r.closed = true })
}

// awaitOutput waits until all output before a mark has been read from both streams.
func (r *rendezvous) awaitOutput(ctx context.Context, number uint64) bool {
	return r.wait(ctx, func() bool { return r.past(stdout, number) && r.past(stderr, number) })
}

// awaitOther waits until the other stream has reached a mark too.
func (r *rendezvous) awaitOther(stream int, number uint64) bool {
	return r.wait(context.Background(), func() bool { return r.past(streams-1-stream, number) })
}

// awaitEvent waits until the event at a mark has been handled.
func (r *rendezvous) awaitEvent(number uint64) bool {
	return r.wait(context.Background(), func() bool { return r.handled >= number || r.closed })
}

func (r *rendezvous) past(stream int, number uint64) bool {
	return r.reached[stream] >= number || r.ended[stream]
}
