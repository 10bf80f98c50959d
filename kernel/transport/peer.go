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

// peer is a connection as zmq4 reads and writes it. It reads from one goroutine
// and, holding a lock, writes from one at a time.
type peer struct {
	net.Conn
	guard     *guard
	log       *slog.Logger
	inbox     inbox
	outbox    *outbox
	assembler assembler
	begun     atomic.Bool // it has heard what comes first
}

// hears passes on a subscription. One whose topic is not UTF-8 is not answered,
// so that nothing can come first.
func (p *peer) hears(topic []byte) {
	if !utf8.Valid(topic) {
		p.begun.Store(true)
	}
	p.guard.subscribed(topic)
}

// deliver queues a message, unless the peer has still to hear what comes first.
// zmq4 sends what was published just before a subscription to the new subscriber
// too.
func (p *peer) deliver(message net.Buffers, size int64) error {
	command := len(message) > 0 && len(message[0]) > 0 && message[0][0]&flagCommand != 0
	if p.guard.first != nil && !command && !p.begun.Load() {
		if !slices.ContainsFunc(message, p.guard.first) {
			return nil
		}
		p.begun.Store(true)
	}
	return p.outbox.put(message, size)
}

// Read reads what the peer has sent and the guard let pass.
func (p *peer) Read(b []byte) (int, error) {
	n, err := p.inbox.Read(b)
	if err == nil {
		return n, nil
	}
	p.inbox.holding.release()
	if errors.Is(err, errProtocol) {
		p.log.Warn("client disconnected", "error", err)
	} else if !errors.Is(err, io.EOF) {
		p.log.Debug("read", "error", err)
	}
	// zmq4 lets go of a connection at an io.EOF between frames or an error of
	// the network. Within a frame it makes another error of io.EOF, and keeps
	// the connection.
	return n, &net.OpError{Op: "read", Net: p.guard.network, Err: net.ErrClosed}
}

// Write takes what zmq4 sends. It waits for the peer only when too much waits
// for it already.
func (p *peer) Write(b []byte) (int, error) {
	if err := p.assembler.write(b, p.deliver); err != nil {
		return 0, &net.OpError{Op: "write", Net: p.guard.network, Err: err}
	}
	return len(b), nil
}

// Close ends reading at once and writing when what waits has been written.
func (p *peer) Close() error {
	p.guard.mu.Lock()
	delete(p.guard.peers, p)
	p.guard.mu.Unlock()
	p.outbox.close()
	// It fails on a connection that has ended, and that is what is wanted.
	_ = p.Conn.SetReadDeadline(time.Unix(1, 0))
	return nil
}
