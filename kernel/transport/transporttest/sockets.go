package transporttest

import (
	"context"
	"sync"

	"github.com/quernlab/quern/kernel/transport"
)

// Sockets are the kernel's side and, in Deliver and Sent, the client's.
type Sockets struct {
	incoming, outgoing [4]chan [][]byte
	closed             chan struct{}
	once               sync.Once
}

// queueLength is more than a test ever leaves unread.
const queueLength = 4096

// New returns empty sockets.
func New() *Sockets {
	s := &Sockets{closed: make(chan struct{})}
	for channel := range s.incoming {
		s.incoming[channel] = make(chan [][]byte, queueLength)
		s.outgoing[channel] = make(chan [][]byte, queueLength)
	}
	return s
}

// Deliver hands a message to the kernel.
func (s *Sockets) Deliver(channel transport.Channel, frames [][]byte) {
	s.incoming[channel] <- frames
}

// Sent waits for the next message that the kernel sends on a channel.
func (s *Sockets) Sent(ctx context.Context, channel transport.Channel) ([][]byte, error) {
	return next(ctx, s.outgoing[channel], nil)
}

// Receive waits for the next message that was delivered.
func (s *Sockets) Receive(ctx context.Context, channel transport.Channel) ([][]byte, error) {
	return next(ctx, s.incoming[channel], s.closed)
}

func next(ctx context.Context, queue <-chan [][]byte, closed <-chan struct{}) ([][]byte, error) {
	select {
	case frames := <-queue:
		return frames, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-closed:
		return nil, transport.ErrClosed
	}
}

// Send keeps a message for Sent.
func (s *Sockets) Send(channel transport.Channel, frames [][]byte) error {
	s.outgoing[channel] <- frames
	return nil
}

// Drain has nothing to wait for.
func (s *Sockets) Drain(context.Context) error { return nil }

// Close ends Receive.
func (s *Sockets) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}
