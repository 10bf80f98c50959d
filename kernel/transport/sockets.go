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

// Sockets are the bound sockets of one kernel.
type Sockets struct {
	sockets  [channels + 1]zmq4.Socket
	received [channels]chan [][]byte
	cancel   context.CancelFunc
	done     <-chan struct{}
	loops    sync.WaitGroup
	log      *slog.Logger
}

// Listen binds the sockets of c. The error is a *BindError. The sockets live
// until they are closed or ctx ends.
func Listen(ctx context.Context, c *Connection, log *slog.Logger) (*Sockets, error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &Sockets{cancel: cancel, done: ctx.Done(), log: log}
	options := []zmq4.Option{zmq4.WithTimeout(sendTimeout), zmq4.WithLogger(slog.NewLogLogger(log.Handler(), slog.LevelDebug))}
	for channel := Shell; channel <= heartbeat; channel++ {
		socket := zmq4.NewRouter
		if channel == IOPub {
			socket = zmq4.NewPub
		}
		s.sockets[channel] = socket(ctx, options...)
		network, address := c.address(channel)
		if err := s.sockets[channel].Listen(endpoint(network, address)); err != nil {
			s.Close()
			return nil, &BindError{channel, address, err}
		}
	}
	for channel := range channels {
		s.received[channel] = make(chan [][]byte)
		if channel != IOPub {
			s.loops.Go(func() { s.receive(channel) })
		}
	}
	s.loops.Go(s.beat)
	return s, nil
}

func endpoint(network, address string) string {
	if network == "unix" {
		return "ipc://" + address
	}
	return "tcp://" + address
}

// receive passes on what comes in on a channel.
func (s *Sockets) receive(channel Channel) {
	for {
		message, err := s.sockets[channel].Recv()
		if err != nil {
			if s.closed() {
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
			if s.closed() {
				return
			}
			s.log.Debug("heartbeat", "error", err)
		}
	}
}

func (s *Sockets) closed() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
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
// peer that is gone is dropped without an error, as ROUTER and PUB do.
func (s *Sockets) Send(channel Channel, frames [][]byte) error {
	if len(frames) == 0 {
		return errors.New("transport: message without frames")
	}
	return s.sockets[channel].Send(zmq4.NewMsgFrom(frames...))
}

// Drain waits until all that was sent has been handed to the operating system.
func (s *Sockets) Drain(ctx context.Context) error {
	return nil
}

// Close closes the sockets and waits for what reads them.
func (s *Sockets) Close() error {
	s.cancel()
	var errs []error
	for _, socket := range s.sockets {
		if socket != nil {
			errs = append(errs, socket.Close())
		}
	}
	s.loops.Wait()
	return errors.Join(errs...)
}
