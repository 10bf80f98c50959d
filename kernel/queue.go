package kernel

import (
	"context"
	"sync"
)

// The limits of a queue. A client that has sent so much and not been answered
// waits with the rest.
const (
	maxQueued      = 1 << 16   // requests
	maxQueuedBytes = 256 << 20 // bytes of their contents and buffers
)

// queue holds the requests of one lane, first in, first out.
type queue struct {
	mu      sync.Mutex
	waiting []*request
	bytes   int
	closed  bool          // takes nothing more
	changed chan struct{} // closed at each change, for those who wait
}

func newQueue() *queue { return &queue{changed: make(chan struct{})} }

// push appends a request; false if the queue is closed. It waits while the queue
// is full, and when ctx ends meanwhile nobody asks for the request any more.
func (q *queue) push(ctx context.Context, r *request) (open bool) {
	size := r.size()
	open = true
	_ = q.wait(ctx, func() bool {
		if q.closed {
			open = false
			return true
		}
		if len(q.waiting) > 0 && (len(q.waiting) >= maxQueued || q.bytes+size > maxQueuedBytes) {
			return false
		}
		q.waiting = append(q.waiting, r)
		q.bytes += size
		return true
	})
	return open
}

// pop takes the oldest request. It waits while there is none; the error is
// that of ctx.
func (q *queue) pop(ctx context.Context) (r *request, err error) {
	err = q.wait(ctx, func() bool {
		if len(q.waiting) == 0 {
			return false
		}
		r = q.waiting[0]
		q.waiting[0] = nil
		q.waiting = q.waiting[1:]
		q.bytes -= r.size()
		return true
	})
	return r, err
}

// close closes the queue and takes all requests that wait.
func (q *queue) close() (rest []*request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	rest, q.waiting, q.bytes, q.closed = q.waiting, nil, 0, true
	close(q.changed)
	q.changed = make(chan struct{})
	return rest
}

// wait waits until try, called under the lock, changes the queue.
func (q *queue) wait(ctx context.Context, try func() bool) error {
	for {
		q.mu.Lock()
		if try() {
			close(q.changed)
			q.changed = make(chan struct{})
			q.mu.Unlock()
			return nil
		}
		changed := q.changed
		q.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// size is what a request holds in memory, in bytes, near enough.
func (r *request) size() int {
	n := len(r.RawHeader) + len(r.Metadata) + len(r.Body)
	for _, b := range r.Buffers {
		n += len(b)
	}
	return n
}
