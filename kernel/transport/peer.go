package transport

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// peer is a connection as zmq4 reads and writes it: from one reading goroutine, and from
// one writer at a time.
type peer struct {
	net.Conn
	guard     *guard
	log       *slog.Logger
	inbox     inbox
	outbox    *outbox
	assembler assembler
	welcomed  atomic.Bool // it has received the first message
}

// onSubscribe passes on a subscription. If its topic is not UTF-8 there is no welcome message
// for it, so there is no first message to wait for.
func (p *peer) onSubscribe(topic []byte) {
	if !utf8.Valid(topic) {
		p.welcomed.Store(true)
	}
	p.guard.subscribed(topic)
}

// deliver queues a message, unless the peer has not received its first message yet. zmq4
// also sends a new subscriber messages that were published just before its subscription.
func (p *peer) deliver(message net.Buffers, size int64) error {
	command := len(message) > 0 && len(message[0]) > 0 && message[0][0]&flagCommand != 0
	if p.guard.first != nil && !command && !p.welcomed.Load() {
		if !slices.ContainsFunc(message, p.guard.first) {
			return nil
		}
		p.welcomed.Store(true)
	}
	return p.outbox.put(message, size)
}

// Read returns what the peer has sent and the guard has accepted.
func (p *peer) Read(b []byte) (int, error) {
	n, err := p.inbox.Read(b)
	if err == nil {
		return n, nil
	}
	p.inbox.memory.release()
	if errors.Is(err, errProtocol) {
		p.log.Warn("client disconnected", "error", err)
	} else if !errors.Is(err, io.EOF) {
		p.log.Debug("read", "error", err)
	}
	// zmq4 drops a connection on io.EOF between frames or on a network error. Within a
	// frame it turns io.EOF into another error and keeps the connection.
	return n, &net.OpError{Op: "read", Net: p.guard.network, Err: net.ErrClosed}
}

// Write takes what zmq4 sends. It waits for the peer only if the peer's queue is full.
func (p *peer) Write(b []byte) (int, error) {
	if err := p.assembler.write(b, p.deliver); err != nil {
		return 0, &net.OpError{Op: "write", Net: p.guard.network, Err: err}
	}
	return len(b), nil
}

// Close stops reading at once, and writing after the queue has been written.
func (p *peer) Close() error {
	p.guard.mu.Lock()
	delete(p.guard.peers, p)
	p.guard.mu.Unlock()
	p.outbox.close()
	// It fails only on a connection that has ended already.
	_ = p.Conn.SetReadDeadline(time.Unix(1, 0))
	return nil
}
