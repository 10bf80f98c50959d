package parallel

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// link is a connection with another rank.
type link struct {
	rank int
	conn net.Conn // encrypted, or only authenticated
	raw  net.Conn // the underlying connection
	in   *bufio.Reader

	sending sync.Mutex // so that messages are written as a whole
}

// newLink encrypts a connection and sets the deadline of the handshake. Only the two ends of
// the connection know the exported key.
func newLink(rank int, conn net.Conn, listens bool) (l *link, exported []byte, err error) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetNoDelay(true) // failing only makes it slower
	}
	if err := conn.SetDeadline(time.Now().Add(handshakeTime)); err != nil {
		return nil, nil, err
	}
	encrypted, exported, err := encrypt(conn, listens)
	if err != nil {
		return nil, nil, err
	}
	return &link{rank: rank, conn: encrypted, raw: conn, in: bufio.NewReaderSize(encrypted, readAhead)}, exported, nil
}

// readAhead is the size of the read buffer.
const readAhead = 64 << 10

// close does not wait for the other side to read, unlike closing TLS. No data that are still
// needed are lost.
func (l *link) close() { _ = l.raw.Close() }

// Maximum message sizes from a rank and from an unauthenticated peer.
const (
	longestMessage  = 4 << 20
	longestGreeting = 16 << 10
)

// send writes a message as JSON after its length.
func (l *link) send(message any) error {
	text, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("parallel: encode a message: %w", err)
	}
	l.sending.Lock()
	defer l.sending.Unlock()
	_, err = l.conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...))
	return err
}

// receive reads a message.
func (l *link) receive(message any) error { return l.receiveUpTo(longestMessage, message) }

// receiveShort reads a message from an unauthenticated peer.
func (l *link) receiveShort(message any) error { return l.receiveUpTo(longestGreeting, message) }

func (l *link) receiveUpTo(most uint32, message any) error {
	var length [4]byte
	if _, err := io.ReadFull(l.in, length[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > most {
		return fmt.Errorf("parallel: invalid message of %d bytes from %v: the peer is not a rank of this program", n, l.conn.RemoteAddr())
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(l.in, text); err != nil {
		return err
	}
	return json.Unmarshal(text, message)
}

// until sets the deadline for all reads and writes until the next call; the zero time means
// none.
func (l *link) until(t time.Time) error { return l.conn.SetDeadline(t) }
