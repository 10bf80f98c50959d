package transport

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"time"
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
}

// Read reads what the peer has sent and the guard let pass.
func (p *peer) Read(b []byte) (int, error) {
	n, err := p.inbox.Read(b)
	if err == nil {
		return n, nil
	}
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
	if err := p.assembler.write(b, p.outbox.put); err != nil {
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
