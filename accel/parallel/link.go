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
	conn net.Conn // encrypted, or authenticated alone
	raw  net.Conn // below
	in   *bufio.Reader

	sending sync.Mutex // messages are written as a whole
}

// newLink encrypts a connection, whose deadline is then that of saying who one is. The
// exported key is one that only its two ends have.
func newLink(rank int, conn net.Conn, listens bool) (l *link, exported []byte, err error) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetNoDelay(true) // slower without it, and right all the same
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

// readAhead is how much is read from a connection at once.
const readAhead = 64 << 10

// close does not wait for the other side to read, as closing TLS would. Nothing is lost
// with it that was still wanted.
func (l *link) close() { _ = l.raw.Close() }

// What a rank keeps of a message of another, and of one of a stranger.
const (
	longestMessage  = 4 << 20
	longestGreeting = 16 << 10
)

// send writes a message as JSON behind its length.
func (l *link) send(message any) error {
	text, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("parallel: message: %w", err)
	}
	l.sending.Lock()
	defer l.sending.Unlock()
	_, err = l.conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...))
	return err
}

// receive reads a message.
func (l *link) receive(message any) error { return l.receiveUpTo(longestMessage, message) }

// receiveShort is receive before it is known who the other side is.
func (l *link) receiveShort(message any) error { return l.receiveUpTo(longestGreeting, message) }

func (l *link) receiveUpTo(most uint32, message any) error {
	var length [4]byte
	if _, err := io.ReadFull(l.in, length[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > most {
		return fmt.Errorf("parallel: a message of %d bytes from %v: it is no rank of this program", n, l.conn.RemoteAddr())
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(l.in, text); err != nil {
		return err
	}
	return json.Unmarshal(text, message)
}

// until bounds all that is read and written until it is called again; the zero time
// is no bound.
func (l *link) until(t time.Time) error { return l.conn.SetDeadline(t) }
