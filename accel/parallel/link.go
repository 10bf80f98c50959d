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
	conn net.Conn
	in   *bufio.Reader

	sending sync.Mutex // messages are written as a whole
}

func newLink(rank int, conn net.Conn) *link {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetNoDelay(true) // slower without it, and right all the same
	}
	return &link{rank: rank, conn: conn, in: bufio.NewReaderSize(conn, readAhead)}
}

// readAhead is how much is read from a connection at once.
const readAhead = 64 << 10

func (l *link) close() { _ = l.conn.Close() } // nothing is lost with it that was still wanted

// longestMessage bounds what a stranger can make a rank keep.
const longestMessage = 4 << 20

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
func (l *link) receive(message any) error {
	var length [4]byte
	if _, err := io.ReadFull(l.in, length[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > longestMessage {
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
