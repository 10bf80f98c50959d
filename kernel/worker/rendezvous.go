package worker

import (
	"context"
	"sync"
	"time"
)

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
