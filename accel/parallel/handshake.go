package parallel

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"time"
)

// handshakeTime is the time limit of the handshake.
const handshakeTime = 10 * time.Second

// protocol is the protocol version, which must be the same on both sides.
const protocol = "quern parallel 4"

// challenge is the first message of the listening side.
type challenge struct {
	Protocol string
	Nonce    []byte
}

// hello is the answer of the dialling side.
type hello struct {
	Rank    int
	Size    int    // the largest number of ranks if the group is elastic
	Least   int    // the smallest number of ranks of an elastic group; 0 for others
	Version string // of Quern; empty if it is unknown
	Host    string // name of the machine
	Ring    string // address where the rank listens for the previous one
	Order   []byte // byte order of this machine
	Session []byte // session of the group, for a ring connection; of the last one, for an elastic group
	Nonce   []byte
	Plain   bool   // the rank requests no encryption
	Proof   []byte // of the secret
}

// welcome is the reply of the listening side.
type welcome struct {
	Refused string // reason of a rejection; empty if the rank may join
	Plain   bool   // encryption ends now
	Proof   []byte // of the secret
}

// version returns the version of Quern in this program: that of a release, or of a commit; empty if it is unknown. Programs that
// use different versions could compute different things.
func version() string {
	const quern = "github.com/quernlab/quern"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == quern && m.Replace == nil {
			return m.Version
		}
	}
	if info.Main.Path != quern || info.Main.Version == "(devel)" {
		return ""
	}
	return info.Main.Version
}

// order returns the number 1 in the byte order of this machine, in which values are sent.
func order() []byte { return binary.NativeEndian.AppendUint32(nil, 1) }

// errWrongSecret is the reason for rejecting a peer that does not know the secret.
var errWrongSecret = errors.New("it does not know the secret of this run")

func nonce() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return b
}

// proof returns the proof that a side knows the secret, for the messages of both sides and a
// key exported from the connection.
func (j *joiner) proof(side string, exported, theirs []byte, said hello) []byte {
	said.Proof = nil
	text, err := json.Marshal(said)
	if err != nil {
		panic(fmt.Errorf("parallel: encode a greeting: %w", err)) // cannot happen: only strings and numbers
	}
	m := hmac.New(sha256.New, []byte(j.secret+"\x00"+j.info.Run))
	for _, part := range [][]byte{[]byte(side), exported, theirs, text} {
		m.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		m.Write(part)
	}
	return m.Sum(nil)
}

// acceptHandshake authenticates an incoming connection. A rank that may not join receives the reason.
func (j *joiner) acceptHandshake(conn net.Conn, check func(hello) error) (*link, hello, error) {
	var h hello
	l, exported, err := newLink(-1, conn, true)
	if err != nil {
		return nil, h, err
	}
	c := challenge{Protocol: protocol, Nonce: nonce()}
	if err := l.send(c); err != nil {
		return nil, h, err
	}
	if err := l.receiveShort(&h); err != nil {
		return nil, h, err
	}
	if !hmac.Equal(h.Proof, j.proof("dial", exported, c.Nonce, h)) {
		return nil, h, errors.Join(errWrongSecret, l.send(welcome{Refused: errWrongSecret.Error()}))
	}
	refused := check(h)
	if refused == nil && h.Version != "" && j.version != "" && h.Version != j.version {
		refused = fmt.Errorf("it has version %s of Quern, but rank %d has %s; all ranks need the same", h.Version, max(j.info.Rank, 0), j.version)
	}
	if refused == nil && string(h.Order) != string(order()) {
		refused = errors.New("its machine has another byte order; all ranks need the same")
	}
	if refused != nil {
		return nil, h, errors.Join(&RefusedError{h.Rank, refused.Error()}, l.send(welcome{Refused: refused.Error(), Proof: j.proof("listen", exported, c.Nonce, h)}))
	}
	plain := h.Plain && j.plain(conn)
	if err := l.send(welcome{Plain: plain, Proof: j.proof("listen", exported, c.Nonce, h)}); err != nil {
		return nil, h, err
	}
	if plain {
		if err := l.authenticate(true); err != nil {
			return nil, h, err
		}
		if err := l.receiveShort(&ready{}); err != nil {
			return nil, h, err
		}
	}
	l.rank = h.Rank
	return l, h, l.until(time.Time{})
}

// dialHandshake authenticates this rank to the one that it has dialled.
func (j *joiner) dialHandshake(conn net.Conn, to int, h hello) (*link, error) {
	l, exported, err := newLink(to, conn, false)
	if err != nil {
		return nil, err
	}
	var c challenge
	if err := l.receiveShort(&c); err != nil {
		return nil, err
	}
	if c.Protocol != protocol {
		return nil, fmt.Errorf("parallel: the listener at %v uses protocol %q instead of %q: it is another version or another program", conn.RemoteAddr(), c.Protocol, protocol)
	}
	h.Version = j.version
	h.Rank, h.Size, h.Least, h.Order, h.Session, h.Nonce = j.info.Rank, j.info.Size, j.least, order(), j.session, nonce()
	h.Plain = j.plain(conn)
	h.Proof = j.proof("dial", exported, c.Nonce, h)
	if err := l.send(h); err != nil {
		return nil, err
	}
	var w welcome
	if err := l.receiveShort(&w); err != nil {
		return nil, err
	}
	if w.Refused != "" {
		return nil, &RefusedError{j.info.Rank, w.Refused}
	}
	if !hmac.Equal(w.Proof, j.proof("listen", exported, c.Nonce, h)) {
		return nil, &RefusedError{j.info.Rank, fmt.Sprintf("the listener at %v does not know the secret of this run", conn.RemoteAddr())}
	}
	if w.Plain && !h.Plain {
		return nil, fmt.Errorf("parallel: the listener at %v ends encryption, which this rank did not offer: start all ranks with the same program", conn.RemoteAddr())
	}
	if w.Plain {
		if err := l.authenticate(false); err != nil {
			return nil, err
		}
		if err := l.send(ready{}); err != nil {
			return nil, err
		}
	}
	return l, l.until(time.Time{})
}

// ready is the first message of the dialling side after encryption ends. The other side waits
// for it, because TLS could still consume anything sent earlier.
type ready struct{}

// plain reports whether a connection needs no encryption: both ends are on this machine and
// have no explicit secret.
func (j *joiner) plain(conn net.Conn) bool {
	return j.local && isLoopback(conn.LocalAddr()) && isLoopback(conn.RemoteAddr())
}

func isLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
