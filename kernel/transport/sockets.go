package transport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
)

// BindError reports a port that could not be bound.
type BindError struct {
	Channel Channel
	Address string
	Err     error
}

func (e *BindError) Error() string {
	return fmt.Sprintf("cannot listen on %s for %s: %v; restart the kernel to get other ports", e.Address, e.Channel, e.Err)
}

// Unwrap returns the error of the operating system.
func (e *BindError) Unwrap() error { return e.Err }

// ErrClosed is returned when the sockets have been closed.
var ErrClosed = errors.New("transport: sockets closed")

// sendTimeout bounds how long a message on a ROUTER socket waits for the first peer to
// connect.
const sendTimeout = time.Second

// Sockets are the bound sockets of one kernel. In front of each zmq4 socket is a guard.
// It rejects what peers must not send, and keeps peers that do not read from blocking
// zmq4 by its locks.
type Sockets struct {
	sockets  [channels + 1]zmq4.Socket
	guards   [channels + 1]*guard
	received [channels]chan [][]byte
	limits   limits
	cancel   context.CancelFunc
	done     <-chan struct{}
	loops    sync.WaitGroup
	log      *slog.Logger

	publishing sync.Mutex        // held while a message is counted in gauge and sent, so both have the same order
	gauge      *gauge            // measures the queue of IOPub
	first      func([]byte) bool // reports whether a message is the first one of a subscription; may be nil
	verify     func([][]byte) error
	memory     *memoryLimit
}

// Listen binds the sockets of c. The error is a *BindError. The sockets are open until
// Close is called or ctx ends.
//
// A subscriber of IOPub receives no message before one with a frame for which first
// returns true: until then its subscription is not in effect. If first is nil, it
// receives all messages from the moment at which the subscription has arrived.
//
// verify returns nil for a message with a valid signature. Until a peer has sent one, its
// messages are dropped, and it shares a small memory limit with all other such peers. If
// verify is nil, all messages are accepted.
func Listen(ctx context.Context, c *Connection, log *slog.Logger, first func(frame []byte) bool, verify func(frames [][]byte) error) (*Sockets, error) {
	return listen(ctx, c, log, defaultLimits, first, verify)
}

func listen(ctx context.Context, c *Connection, log *slog.Logger, limits limits, first func([]byte) bool, verify func([][]byte) error) (*Sockets, error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &Sockets{limits: limits, cancel: cancel, done: ctx.Done(), log: log, gauge: newGauge(), first: first, verify: verify, memory: newMemoryLimit(limits.unverified)}
	for channel := range channels {
		s.received[channel] = make(chan [][]byte)
	}
	// Shell is last, so a client that reaches it can reach the others, and IOPub is
	// first, because subscriptions take the longest.
	for _, channel := range []Channel{IOPub, heartbeat, Stdin, Control, Shell} {
		if err := s.bind(ctx, c, channel); err != nil {
			s.Close()
			return nil, err
		}
	}
	if err := s.gauge.attach(ctx, s.guards[IOPub]); err != nil {
		s.Close()
		return nil, err
	}
	for channel := range channels {
		if channel != IOPub {
			s.loops.Go(func() { s.receive(channel) })
		}
	}
	s.loops.Go(s.beat)
	return s, nil
}

func (s *Sockets) bind(ctx context.Context, c *Connection, channel Channel) error {
	newSocket := zmq4.NewRouter
	if channel == IOPub {
		newSocket = zmq4.NewPub
	}
	s.sockets[channel] = newSocket(ctx, zmq4.WithTimeout(sendTimeout), zmq4.WithLogger(slog.NewLogLogger(s.log.Handler(), slog.LevelDebug)))
	network, address := c.address(channel)
	s.guards[channel] = newGuard(roleOf(channel), network, address, s.limits, s.log, s.subscribed)
	s.guards[channel].curve = c.curve
	s.guards[channel].verify = s.verify
	s.guards[channel].memory = s.memory
	if channel == IOPub {
		s.guards[channel].first = s.first
	}
	if err := s.guards[channel].listen(s.sockets[channel]); err != nil {
		return &BindError{channel, address, err}
	}
	return nil
}

// subscribed passes on a subscription that is in effect.
func (s *Sockets) subscribed(topic []byte) {
	select {
	case s.received[IOPub] <- [][]byte{topic}:
	case <-s.done:
	}
}

// receive passes on the messages of a channel.
func (s *Sockets) receive(channel Channel) {
	for {
		message, err := s.sockets[channel].Recv()
		if err != nil {
			if closed(s.done) {
				return
			}
			s.log.Debug("receive", "channel", channel, "error", err)
			continue
		}
		select {
		case s.received[channel] <- message.Frames:
		case <-s.done:
			return
		}
	}
}

// beat echoes heartbeats. It uses a ROUTER socket because the REP socket of zmq4 reports
// a malformed request as an error of the socket.
func (s *Sockets) beat() {
	for {
		message, err := s.sockets[heartbeat].Recv()
		if err == nil {
			err = s.sockets[heartbeat].Send(message)
		}
		if err != nil {
			if closed(s.done) {
				return
			}
			s.log.Debug("heartbeat", "error", err)
		}
	}
}

// Receive waits for the next message of a channel.
func (s *Sockets) Receive(ctx context.Context, channel Channel) ([][]byte, error) {
	select {
	case frames := <-s.received[channel]:
		return frames, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.done:
		return nil, ErrClosed
	}
}

// Send sends a message, which must not be changed afterwards. A message for a peer that
// has disconnected is dropped without an error, as ROUTER and PUB do. Send blocks while
// too many bytes are waiting to be sent.
func (s *Sockets) Send(channel Channel, frames [][]byte) error {
	if len(frames) == 0 {
		return errors.New("transport: message without frames")
	}
	if channel == IOPub {
		s.publishing.Lock()
		defer s.publishing.Unlock()
		var size int64
		for _, f := range frames {
			size += int64(len(f))
		}
		if err := s.gauge.add(size, s.limits.unsent, s.done); err != nil {
			return err
		}
	}
	return s.sockets[channel].Send(zmq4.NewMsgFrom(frames...))
}

// Drain waits until everything sent has been passed to the operating system, except
// messages for subscribers that do not read.
func (s *Sockets) Drain(ctx context.Context) error {
	if err := s.gauge.empty(ctx); err != nil {
		return err
	}
	// zmq4 may still be sending the last message, which the gauge receives first. It
	// accepts another subscriber only after the message has been sent to all.
	last := newGauge()
	defer last.Close()
	if err := last.attach(ctx, s.guards[IOPub]); err != nil {
		return err
	}
	var errs []error
	for _, g := range s.guards {
		errs = append(errs, g.drain(ctx))
	}
	return errors.Join(errs...)
}

// Close closes the sockets and waits for their goroutines.
func (s *Sockets) Close() error {
	s.cancel()
	s.gauge.Close()
	var errs []error
	for channel, socket := range s.sockets {
		if socket != nil {
			errs = append(errs, socket.Close())
		}
		if g := s.guards[channel]; g != nil {
			g.close()
		}
	}
	s.loops.Wait()
	return errors.Join(errs...)
}
