package kernel

import (
	"context"
	"sync"
)

// lane names a lane: see the package documentation.
type lane int

const (
	cells   lane = iota // cells and requests that must keep their order with them
	queries             // requests that the worker answers while a cell runs
	comms               // comm messages to the worker, handled while a cell runs
	control             // requests that the kernel process answers alone, at once
	lanes
)

// Limits of a queue. Requests beyond them wait in the socket.
const (
	maxQueued      = 1 << 16   // requests
	maxQueuedBytes = 256 << 20 // size of their contents and buffers
)

// queue is a FIFO queue with the requests of one lane.
type queue struct {
	mu      sync.Mutex
	waiting []*request
	bytes   int
	closed  bool          // accepts no more requests
	changed chan struct{} // closed and replaced at each change
}

func newQueue() *queue { return &queue{changed: make(chan struct{})} }

// push appends a request. It waits while the queue is full; if ctx ends meanwhile, the
// request is dropped. It returns false if the queue is closed.
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

// pop removes the oldest request. It waits while there is none; the error is that of ctx.
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

// close closes the queue and returns the requests that were waiting in it.
func (q *queue) close() (rest []*request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	rest, q.waiting, q.bytes, q.closed = q.waiting, nil, 0, true
	close(q.changed)
	q.changed = make(chan struct{})
	return rest
}

// wait calls try, under the lock, at each change of the queue until it returns true.
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
