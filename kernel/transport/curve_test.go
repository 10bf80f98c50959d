package transport

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	nacl "golang.org/x/crypto/nacl/box"
)

func newKeys(t testing.TB) *curveKeys {
	t.Helper()
	public, secret, err := nacl.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &curveKeys{*public, *secret}
}

// curveClient is the client's side of CURVE, as in libzmq.
type curveClient struct {
	conn   net.Conn
	r      *bufio.Reader
	key    [32]byte
	number uint64
	// change may modify each frame before it is sent.
	change func(name string, frame []byte) []byte
}

func (c *curveClient) send(name string, frame []byte) error {
	if c.change != nil {
		frame = c.change(name, frame)
	}
	_, err := c.conn.Write(frame)
	return err
}

func (c *curveClient) tail() []byte {
	c.number++
	return binary.BigEndian.AppendUint64(nil, c.number)
}

func (c *curveClient) frame() (flags byte, body []byte, err error) {
	flags, size, _, err := readHeader(c.r)
	if err != nil {
		return 0, nil, err
	}
	body = make([]byte, size)
	_, err = io.ReadFull(c.r, body)
	return flags, body, err
}

// handshake does the handshake up to INITIATE.
func (c *curveClient) handshake(server *[32]byte, own *curveKeys, short *curveKeys) error {
	g := greeting()
	copy(g[12:], curveMechanism[:])
	if err := c.send("greeting", g); err != nil {
		return err
	}
	if _, err := io.ReadFull(c.r, make([]byte, greetingBytes)); err != nil {
		return err
	}
	tail := c.tail()
	hello := append([]byte(helloName+"\x01\x00"), make([]byte, 72)...)
	hello = append(append(hello, short.public[:]...), tail...)
	hello = nacl.Seal(hello, make([]byte, 64), nonce("CurveZMQHELLO---", tail), server, &short.secret)
	if err := c.send("HELLO", appendFrame(nil, flagCommand, hello)); err != nil {
		return err
	}
	_, welcome, err := c.frame()
	if err != nil {
		return err
	}
	opened, ok := nacl.Open(nil, welcome[24:], nonce("WELCOME-", welcome[8:24]), server, &short.secret)
	if !ok || len(opened) != 128 {
		return errors.New("WELCOME cannot be opened")
	}
	connection := (*[32]byte)(opened[:32])
	vouchTail := make([]byte, 16)
	vouch := nacl.Seal(nil, append(short.public[:], server[:]...), nonce("VOUCH---", vouchTail), connection, &own.secret)
	inner := append(append(append(own.public[:], vouchTail...), vouch...), property("Socket-Type", "DEALER")...)
	tail = c.tail()
	initiate := append(append([]byte(initiateName), opened[32:]...), tail...)
	initiate = nacl.Seal(initiate, inner, nonce("CurveZMQINITIATE", tail), connection, &short.secret)
	nacl.Precompute(&c.key, connection, &short.secret)
	return c.send("INITIATE", appendFrame(nil, flagCommand, initiate))
}

func (c *curveClient) message(flags byte, text string) []byte {
	tail := c.tail()
	return appendFrame(nil, 0, []byte(messageName), tail, nacl.SealAfterPrecomputation(nil, append([]byte{flags}, text...), nonce("CurveZMQMESSAGEC", tail), &c.key))
}

// connectCurve does the handshake between a client and the kernel's side.
func connectCurve(t testing.TB, change func(string, []byte) []byte) (*curveClient, *curveConn, error) {
	t.Helper()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	deadline := time.Now().Add(5 * time.Minute)
	_, _ = ours.SetDeadline(deadline), theirs.SetDeadline(deadline)
	keys := newKeys(t)
	client := &curveClient{conn: theirs, r: bufio.NewReader(theirs), change: change}
	own, short := newKeys(t), newKeys(t)
	done := make(chan error, 1)
	go func() {
		err := client.handshake(&keys.public, own, short)
		if err != nil {
			theirs.Close()
		}
		done <- err
	}()
	// A pipe has no buffer: both ends would wait while writing their greetings.
	conn, err := acceptCurve(bufferedPipe(ours), keys, 1<<20, nil)
	ours.SetDeadline(deadline)
	if err != nil {
		ours.Close()
		<-done
		return nil, nil, err
	}
	return client, conn, <-done
}

// bufferedPipe returns a pipe whose writes do not block.
func bufferedPipe(conn net.Conn) net.Conn {
	w := &roomyConn{Conn: conn, queue: make(chan []byte, 100)}
	go func() {
		for b := range w.queue {
			if _, err := conn.Write(b); err != nil {
				return
			}
		}
	}()
	return w
}

type roomyConn struct {
	net.Conn
	queue chan []byte
}

func (r *roomyConn) Write(b []byte) (int, error) {
	r.queue <- bytes.Clone(b)
	return len(b), nil
}

func TestCurve(t *testing.T) {
	t.Parallel()
	client, conn, err := connectCurve(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	if _, err := readGreeting(r); err != nil {
		t.Fatalf("the greeting in the clear: %v", err)
	}
	if _, err := readReady(r, []string{"DEALER"}); err != nil {
		t.Fatalf("READY in the clear: %v", err)
	}

	go func() {
		_ = client.send("MESSAGE", append(client.message(curveMore, "a"), client.message(0, strings.Repeat("b", 1000))...))
	}()
	want := appendFrame(appendFrame(nil, flagMore, []byte("a")), 0, bytes.Repeat([]byte("b"), 1000))
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v: got %q", err, got)
	}

	// Frames written byte by byte reach the client.
	var sent []byte
	sent = appendFrame(sent, flagCommand, []byte(readyName), []byte(property("Socket-Type", "ROUTER")))
	sent = appendFrame(sent, flagMore, []byte("c"))
	sent = appendFrame(sent, 0, bytes.Repeat([]byte("d"), 300))
	go func() {
		for i := range sent {
			if _, err := conn.Write(sent[i : i+1]); err != nil {
				return
			}
		}
	}()
	flags, ready, err := client.frame()
	if err != nil || flags != flagCommand {
		t.Fatalf("READY: %v, flags %d", err, flags)
	}
	if text, ok := nacl.OpenAfterPrecomputation(nil, ready[14:], nonce("CurveZMQREADY---", ready[6:14]), &client.key); !ok || string(text) != property("Socket-Type", "ROUTER") {
		t.Errorf("READY %q", text)
	}
	for _, want := range []string{"\x01c", "\x00" + strings.Repeat("d", 300)} {
		_, body, err := client.frame()
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := nacl.OpenAfterPrecomputation(nil, body[16:], nonce("CurveZMQMESSAGES", body[8:16]), &client.key); !ok || string(text) != want {
			t.Errorf("MESSAGE %q, want %q", text, want)
		}
	}
}

// A handshake in which any byte was changed is rejected.
func TestCurveRefusesChanges(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"greeting", "HELLO", "INITIATE"} {
		for at := 0; at < 280; at += 7 {
			changed := false
			_, _, err := connectCurve(t, func(sent string, frame []byte) []byte {
				if sent == name && at < len(frame) && !harmless(name, at) {
					frame, changed = bytes.Clone(frame), true
					frame[at] ^= 0x55
				}
				return frame
			})
			if changed && err == nil {
				t.Errorf("byte %d of %s was changed without an error", at, name)
			}
		}
	}
}

// harmless reports whether the specification assigns no meaning to a byte.
func harmless(name string, at int) bool {
	switch name {
	case "greeting":
		return at > 0 && at < 9 || at == 10 || at == 11 || at > 32
	case "HELLO":
		return at >= 2+7 && at < 2+80 // the minor version and padding
	}
	return false
}

func TestCurveRefusesMessages(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		bytes func(c *curveClient) []byte
	}{
		{"a replay", func(c *curveClient) []byte { m := c.message(0, "a"); return append(m, m...) }},
		{"in the clear", func(*curveClient) []byte { return appendFrame(nil, 0, []byte("clear")) }},
		{"another key", func(c *curveClient) []byte { c.key[0] ^= 1; return c.message(0, "a") }},
		{"without flags", func(c *curveClient) []byte {
			tail := c.tail()
			return appendFrame(nil, 0, []byte(messageName), tail, nacl.SealAfterPrecomputation(nil, nil, nonce("CurveZMQMESSAGEC", tail), &c.key))
		}},
		{"too large", func(*curveClient) []byte { return []byte{flagLong, 0, 0, 0, 1, 0, 0, 0, 0} }},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			client, conn, err := connectCurve(t, nil)
			if err != nil {
				t.Fatal(err)
			}
			go func() { _ = client.send("", row.bytes(client)) }()
			if _, err := io.Copy(io.Discard, conn); !errors.Is(err, errProtocol) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestZ85(t *testing.T) {
	t.Parallel()
	var got [8]byte
	if err := decodeZ85(got[:], "HelloWorld"); err != nil || got != [8]byte{0x86, 0x4f, 0xd2, 0x6f, 0xb5, 0x59, 0xf7, 0x5b} {
		t.Errorf("%v %x", err, got)
	}
	for _, text := range []string{"", "Hello", "HelloWorl~", "Hello World", "#####HELLO"} {
		if err := decodeZ85(got[:], text); err == nil {
			t.Errorf("%q was decoded", text)
		}
	}
	if _, err := newCurveKeys("x", ""); err == nil {
		t.Error("half a pair of keys was taken")
	}
	if keys, err := newCurveKeys("", ""); keys != nil || err != nil {
		t.Error("no keys are no error")
	}
}
