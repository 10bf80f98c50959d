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
	return fmt.Sprintf("cannot listen on %s for %s: %v; start the kernel again to get other ports", e.Address, e.Channel, e.Err)
}

// Unwrap returns the error of the operating system.
func (e *BindError) Unwrap() error { return e.Err }

// ErrClosed is returned for sockets that were closed.
var ErrClosed = errors.New("transport: sockets closed")

// sendTimeout bounds how long a message for a ROUTER waits for the first peer
// ever to connect.
const sendTimeout = time.Second

// Sockets are the bound sockets of one kernel. Behind each is a guard, which
// keeps away from zmq4 what its peers must not send, and from its locks the
// peers that do not read.
type Sockets struct {
	sockets  [channels + 1]zmq4.Socket
	guards   [channels + 1]*guard
	received [channels]chan [][]byte
	limits   limits
	cancel   context.CancelFunc
	done     <-chan struct{}
	loops    sync.WaitGroup
	log      *slog.Logger

	publishing sync.Mutex        // orders what is counted in gauge and what is sent
	gauge      *gauge            // of IOPub
	first      func([]byte) bool // of a message that opens a subscription; may be nil
	verify     func([][]byte) error
	intake     *intake
}

// Listen binds the sockets of c. The error is a *BindError. The sockets live
// until they are closed or ctx ends.
//
// A subscriber of IOPub hears nothing before a message of which a frame
// satisfies first: until then its subscription is not in effect. With nil it
// hears all from the moment at which the subscription has come in.
//
// A message has a valid signature if verify returns nil. Before its first one a peer
// gets little memory, together with all others of which that holds, and what it sends
// is dropped. With nil all messages come through.
func Listen(ctx context.Context, c *Connection, log *slog.Logger, first func(frame []byte) bool, verify func(frames [][]byte) error) (*Sockets, error) {
	return listen(ctx, c, log, defaultLimits, first, verify)
}

func listen(ctx context.Context, c *Connection, log *slog.Logger, limits limits, first func([]byte) bool, verify func([][]byte) error) (*Sockets, error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &Sockets{limits: limits, cancel: cancel, done: ctx.Done(), log: log, gauge: newGauge(), first: first, verify: verify, intake: newIntake(limits.unverified)}
	for channel := range channels {
		s.received[channel] = make(chan [][]byte)
	}
	// Shell is last: whoever reaches it has reached the others, and IOPub, whose
	// subscriptions take the longest to come in, first.
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
	s.guards[channel].intake = s.intake
	if channel == IOPub {
		s.guards[channel].first = s.first
	}
	if err := s.guards[channel].listen(s.sockets[channel]); err != nil {
		return &BindError{channel, address, err}
	}
	return nil
}

// subscribed passes on a subscription that has come into effect.
func (s *Sockets) subscribed(topic []byte) {
	select {
	case s.received[IOPub] <- [][]byte{topic}:
	case <-s.done:
	}
}

// receive passes on what comes in on a channel.
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

// beat sends back what comes in on the heartbeat. A ROUTER serves for it: the
// REP socket of zmq4 reports a malformed request as an error of the socket.
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

// Send sends a message, which may not be changed afterwards. A message for a
// peer that is gone is dropped without an error, as ROUTER and PUB do. Send
// waits while too much waits to be sent.
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

// Drain waits until all that was sent has been handed to the operating system,
// but for what waits for a subscriber that does not read.
func (s *Sockets) Drain(ctx context.Context) error {
	if err := s.gauge.empty(ctx); err != nil {
		return err
	}
	// zmq4 may still be at the last message, of which the gauge hears first.
	// Another subscriber is let in only when it has gone to all.
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

// Close closes the sockets and waits for what reads and writes them.
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
