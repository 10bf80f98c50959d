package worker

import (
	"context"
	"sync"
	"time"
)

// meeting makes the readers of the two output streams and of the link wait for
// each other where a mark says so. Numbers of marks only grow.
type meeting struct {
	patience time.Duration
	stopped  func() bool // the worker is stopped by a signal: what it owes will come

	mu      sync.Mutex
	reached [streams]uint64 // the last mark that was read from each stream
	ended   [streams]bool   // nothing comes any more
	handled uint64          // the last mark whose event was handled
	closed  bool            // the link has ended: no event comes any more
	changed chan struct{}   // closed at each change
}

const (
	stdout = iota
	stderr
	streams
)

// patience bounds a wait for a mark that never comes, counted from the last progress:
// a cell may have closed the descriptor, or a write may have failed.
const patience = 5 * time.Second

func newMeeting(stopped func() bool) *meeting {
	return &meeting{patience: patience, stopped: stopped, changed: make(chan struct{})}
}

// update changes the state and wakes those who wait.
func (m *meeting) update(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
	close(m.changed)
	m.changed = make(chan struct{})
}

// wait waits until done holds, ctx ends or patience does, and reports whether
// done holds.
func (m *meeting) wait(ctx context.Context, done func() bool) bool {
	m.mu.Lock()
	if done() {
		m.mu.Unlock()
		return true
	}
	m.mu.Unlock()
	timeout := time.NewTimer(m.patience)
	defer timeout.Stop()
	for {
		m.mu.Lock()
		ok, changed := done(), m.changed
		m.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-changed:
			timeout.Reset(m.patience)
		case <-ctx.Done():
			return false
		case <-timeout.C:
			if !m.stopped() {
				return false
			}
			timeout.Reset(m.patience)
		}
	}
}

// progress tells that output was read.
func (m *meeting) progress() { m.update(func() {}) }

// reach tells that a mark was read from a stream.
func (m *meeting) reach(stream int, number uint64) {
	m.update(func() { m.reached[stream] = number })
}

// end tells that a stream has ended.
func (m *meeting) end(stream int) {
	m.update(func() { m.ended[stream] = true })
}

// handle tells that all events up to a mark have been handled.
func (m *meeting) handle(number uint64) {
	m.update(func() { m.handled = max(m.handled, number) })
}

// close tells that the link has ended.
func (m *meeting) close() {
	m.update(func() { m.closed = true })
}

// output waits until all output before a mark has been read from both streams.
func (m *meeting) output(ctx context.Context, number uint64) bool {
	return m.wait(ctx, func() bool { return m.past(stdout, number) && m.past(stderr, number) })
}

// other waits until the other stream has come to a mark too.
func (m *meeting) other(stream int, number uint64) bool {
	return m.wait(context.Background(), func() bool { return m.past(streams-1-stream, number) })
}

// event waits until the event at a mark has been handled.
func (m *meeting) event(number uint64) bool {
	return m.wait(context.Background(), func() bool { return m.handled >= number || m.closed })
}

func (m *meeting) past(stream int, number uint64) bool {
	return m.reached[stream] >= number || m.ended[stream]
}
