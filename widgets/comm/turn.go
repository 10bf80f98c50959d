package comm

import (
	"sync"
	"time"
)

// patience is how long a handler may keep others waiting. Most take no time;
// one that takes more, or has no end, goes on beside them.
const patience = time.Second

// maxWaiting bounds the messages that wait for the handler of one comm. A slider
// that is dragged sends many, of which the last counts.
const maxWaiting = 256

// turns lets handlers run one at a time, in the order in which they come.
type turns struct {
	mu   sync.Mutex
	last chan struct{} // closed when the last one has had its turn; nil when nobody has it
}

// run runs f in its turn. It returns when f has, or has taken too long.
func (t *turns) run(f func()) {
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

// await waits for the end of something, but not for ever.
func await(done <-chan struct{}) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// delivery is a message on its way to a handler.
type delivery struct {
	message Message
	done    chan struct{} // closed when it has been handled, or dropped
}

// deliver hands a message to the handler of c, behind those that came before.
// It returns when it has been handled; sooner where the handler takes too long.
func (c *Comm) deliver(m Message) {
	d := delivery{m, make(chan struct{})}
	c.mu.Lock()
	if c.handling {
		c.waiting = append(c.waiting, d)
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
	hub.turns.run(func() { c.handle(d) })
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slow = c.handling
}

// handle calls the handler for a message and for those that come meanwhile.
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
