package comm

import (
	"sync"
	"time"
)

// handlerTimeout is how long a handler may keep others waiting. Most return immediately; one
// that takes longer, or never returns, then runs concurrently with the others.
const handlerTimeout = time.Second

// maxWaiting limits the messages that wait for the handler of one comm; the oldest are dropped. A
// person does not send so many: those of a slider are joined, see [Comm.OnWaiting].
const maxWaiting = 256

// queue runs handlers one at a time, in the order in which they arrive.
type queue struct {
	mu   sync.Mutex
	last chan struct{} // closed when the last handler has finished; nil if none is running
}

// run runs f after the handlers before it. It returns when f has returned or exceeded the time
// limit.
func (t *queue) run(f func()) {
	mine := make(chan struct{})
	t.mu.Lock()
	before := t.last
	t.last = mine
	t.mu.Unlock()
	defer func() {
		close(mine)
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.last == mine {
			t.last = nil
		}
	}()
	if before != nil {
		<-before
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	await(done)
}

// await waits for done, but not longer than the time limit.
func await(done <-chan struct{}) {
	timer := time.NewTimer(handlerTimeout)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// delivery is a message on its way to a handler.
type delivery struct {
	message Message
	done    chan struct{} // closed when it has been handled or dropped
}

// deliver passes a message to the handler of c, after earlier messages. It returns when the
// message has been handled, or earlier if the handler exceeds the time limit.
func (c *Comm) deliver(m Message) {
	d := delivery{m, make(chan struct{})}
	c.mu.Lock()
	if c.handling {
		c.wait(d)
		if len(c.waiting) > maxWaiting {
			close(c.waiting[0].done)
			c.waiting = c.waiting[1:]
		}
		slow := c.slow
		c.mu.Unlock()
		if !slow {
			await(d.done)
		}
		return
	}
	c.handling = true
	c.mu.Unlock()
	hub.queue.run(func() { c.handle(d) })
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slow = c.handling
}

// wait appends a message to those that wait, or joins it with the last of them. The lock is held.
func (c *Comm) wait(d delivery) {
	if last := len(c.waiting) - 1; last >= 0 && c.join != nil {
		if joined, ok := c.join(c.waiting[last].message, d.message); ok {
			close(c.waiting[last].done)
			c.waiting[last] = delivery{joined, d.done}
			return
		}
	}
	c.waiting = append(c.waiting, d)
}

// handle calls the handler for a message and for those that arrive meanwhile.
func (c *Comm) handle(d delivery) {
	for {
		if f := c.handler(func(c *Comm) func(Message) { return c.received }); f != nil {
			f(d.message)
		}
		close(d.done)
		c.mu.Lock()
		if len(c.waiting) == 0 {
			c.handling, c.slow = false, false
			c.mu.Unlock()
			return
		}
		d, c.waiting = c.waiting[0], c.waiting[1:]
		c.mu.Unlock()
	}
}
