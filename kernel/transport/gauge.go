package transport

import (
	"context"
	"net"
	"sync"
	"time"
)

// gauge is a subscriber within the process. zmq4 keeps published messages in an unbounded
// queue. It sends each message to the gauge too when it takes it from the queue, so the
// gauge knows how many bytes are in it.
type gauge struct {
	in        []byte // what zmq4 reads from this subscriber
	assembler assembler
	reading   chan struct{} // closed when zmq4 has added it to its subscribers
	once      sync.Once
	closed    chan struct{}
	closeOnce sync.Once

	mu      sync.Mutex
	unsent  int64         // bytes of the messages in the queue
	sizes   []int64       // the size of each of them, oldest first
	changed chan struct{} // closed at each change
}

func newGauge() *gauge {
	const ready = readyName + "\x0bSocket-Type\x00\x00\x00\x03SUB"
	in := append(greeting(), flagCommand, byte(len(ready)))
	in = append(in, ready...)
	in = append(in, 0, 1, 1) // a subscription to everything
	return &gauge{
		in: in, assembler: assembler{skip: greetingBytes},
		reading: make(chan struct{}), closed: make(chan struct{}), changed: make(chan struct{}),
	}
}

// attach subscribes the gauge to the socket behind a guard.
func (g *gauge) attach(ctx context.Context, to *guard) error {
	select {
	case to.ready <- g:
	case <-to.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-g.reading:
		return nil
	case <-to.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// add counts a message that will be published next. It waits until the queue has space;
// an empty queue accepts any message.
func (g *gauge) add(size, limit int64, done <-chan struct{}) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.unsent > 0 && g.unsent+size > limit {
		if err := g.wait(context.Background(), done); err != nil {
			return err
		}
	}
	g.unsent += size
	g.sizes = append(g.sizes, size)
	return nil
}

// empty waits until nothing is unsent.
func (g *gauge) empty(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.unsent > 0 {
		if err := g.wait(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

// wait waits for a change. The lock is held, except while waiting.
func (g *gauge) wait(ctx context.Context, done <-chan struct{}) error {
	changed := g.changed
	g.mu.Unlock()
	defer g.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-done:
		return ErrClosed
	}
}

// Read returns the handshake and the subscription, and then blocks.
func (g *gauge) Read(b []byte) (int, error) {
	if len(g.in) > 0 {
		n := copy(b, g.in)
		g.in = g.in[n:]
		return n, nil
	}
	g.once.Do(func() { close(g.reading) })
	<-g.closed
	return 0, net.ErrClosed
}

// Write subtracts a message that zmq4 has taken from its queue.
func (g *gauge) Write(b []byte) (int, error) {
	err := g.assembler.write(b, func(message net.Buffers, _ int64) error {
		if message[0][0]&flagCommand != 0 { // READY
			return nil
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		if len(g.sizes) == 0 { // published before the gauge was attached
			return nil
		}
		g.unsent -= g.sizes[0]
		g.sizes = g.sizes[1:]
		close(g.changed)
		g.changed = make(chan struct{})
		return nil
	})
	return len(b), err
}

// Close ends the subscription.
func (g *gauge) Close() error {
	g.closeOnce.Do(func() { close(g.closed) })
	return nil
}

// The gauge has no address and no deadlines.
func (g *gauge) LocalAddr() net.Addr              { return nil }
func (g *gauge) RemoteAddr() net.Addr             { return nil }
func (g *gauge) SetDeadline(time.Time) error      { return nil }
func (g *gauge) SetReadDeadline(time.Time) error  { return nil }
func (g *gauge) SetWriteDeadline(time.Time) error { return nil }
