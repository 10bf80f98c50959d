package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"

	"github.com/quernlab/quern/internal/testenv"
)

// timeout ends a test whose event never comes.
const timeout = 5 * time.Minute

// anyPorts listens on ports that the system chooses.
var anyPorts = &Connection{Transport: "tcp", IP: "127.0.0.1"}

func open(t *testing.T, c *Connection, limits limits) *Sockets {
	t.Helper()
	s, err := listen(context.Background(), c, quiet, limits, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// address returns the address of a channel.
func (s *Sockets) address(channel Channel) net.Addr { return s.guards[channel].listener.Addr() }

// dial connects to a channel without sending anything.
func dial(t *testing.T, s *Sockets, channel Channel) net.Conn {
	t.Helper()
	a := s.address(channel)
	conn, err := net.Dial(a.Network(), a.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// client connects an honest client with a socket type.
func client(t *testing.T, s *Sockets, channel Channel, newSocket func(context.Context, ...zmq4.Option) zmq4.Socket, identity string) zmq4.Socket {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	c := newSocket(ctx, zmq4.WithID(zmq4.SocketIdentity(identity)))
	a, scheme := s.address(channel), "tcp"
	if a.Network() == "unix" {
		scheme = "ipc"
	}
	if err := c.Dial(scheme + "://" + a.String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); c.Close() })
	return c
}

func receive(t *testing.T, s *Sockets, channel Channel) [][]byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	frames, err := s.Receive(ctx, channel)
	if err != nil {
		t.Fatalf("%s: %v", channel, err)
	}
	return frames
}

// served checks that an honest client is served on each channel.
func served(t *testing.T, s *Sockets) {
	t.Helper()
	for _, channel := range []Channel{Shell, Control, Stdin} {
		c := client(t, s, channel, zmq4.NewDealer, "honest")
		if err := c.Send(zmq4.NewMsgFrom([]byte("a"), nil, []byte("b"))); err != nil {
			t.Fatal(err)
		}
		got := receive(t, s, channel)
		if fmt.Sprintf("%q", got) != `["honest" "a" "" "b"]` {
			t.Errorf("%s: received %q", channel, got)
		}
		if err := s.Send(channel, got); err != nil {
			t.Fatal(err)
		}
		if back, err := c.Recv(); err != nil || fmt.Sprintf("%q", back.Frames) != `["a" "" "b"]` {
			t.Errorf("%s: got back %q, %v", channel, back.Frames, err)
		}
		c.Close()
	}
	sub := client(t, s, IOPub, zmq4.NewSub, "honest")
	if err := sub.SetOption(zmq4.OptionSubscribe, "to"); err != nil {
		t.Fatal(err)
	}
	for string(receive(t, s, IOPub)[0]) != "to" { // others may have subscribed
	}
	for _, topic := range []string{"other", "topic"} {
		if err := s.Send(IOPub, [][]byte{[]byte(topic), []byte("x")}); err != nil {
			t.Fatal(err)
		}
	}
	if m, err := sub.Recv(); err != nil || fmt.Sprintf("%q", m.Frames) != `["topic" "x"]` {
		t.Errorf("iopub: received %q, %v", m.Frames, err)
	}
	sub.Close()
	beat := client(t, s, heartbeat, zmq4.NewReq, "honest")
	for range 3 {
		if err := beat.Send(zmq4.NewMsgString("ping")); err != nil {
			t.Fatal(err)
		}
		if m, err := beat.Recv(); err != nil || string(m.Bytes()) != "ping" {
			t.Errorf("heartbeat: %q, %v", m.Frames, err)
		}
	}
	beat.Close()
}

func TestSocketsServe(t *testing.T) {
	t.Parallel()
	t.Run("tcp", func(t *testing.T) {
		t.Parallel()
		served(t, open(t, anyPorts, defaultLimits))
	})
	t.Run("tcp over IPv6", func(t *testing.T) {
		t.Parallel()
		if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
			testenv.Optional(t, "%v", err)
		} else {
			l.Close()
		}
		served(t, open(t, &Connection{Transport: "tcp", IP: "::1"}, defaultLimits))
	})
	t.Run("ipc", func(t *testing.T) {
		t.Parallel()
		served(t, open(t, ipc(t), defaultLimits))
	})
}

func ipc(t *testing.T) *Connection {
	t.Helper()
	// The path of a socket must be short, but those of tests may be long.
	dir, err := os.MkdirTemp("", "ipc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return &Connection{Transport: "ipc", IP: filepath.Join(dir, "k"), ShellPort: 1, ControlPort: 2, StdinPort: 3, IOPubPort: 4, HeartbeatPort: 5}
}

func TestPortTaken(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	c := *anyPorts
	c.IOPubPort = taken.Addr().(*net.TCPAddr).Port
	_, err = Listen(t.Context(), &c, quiet, nil, nil)
	var bind *BindError
	if !errors.As(err, &bind) || bind.Channel != IOPub || bind.Address != taken.Addr().String() {
		t.Fatalf("got %v, want a BindError of iopub", err)
	}
	if text := err.Error(); strings.Contains(text, "\n") || !strings.Contains(text, "in use") {
		t.Errorf("got %q", text)
	}
}

func TestIPCSockets(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("permissions of Unix")
	}
	c := ipc(t)
	_, path := c.address(Shell)
	// A killed kernel leaves its socket files behind.
	address, err := net.ResolveUnixAddr("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	dead, err := net.ListenUnix("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	s := open(t, c, defaultLimits)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the socket: %v, %v", info.Mode(), err)
	}
	// Those of a running kernel are kept.
	if _, err := Listen(t.Context(), c, quiet, nil, nil); err == nil {
		t.Error("a second kernel listens on the same sockets")
	}
	served(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a socket is left: %v", err)
	}
}

// opening returns what a peer with a socket type sends first.
func opening(socketType string) string {
	return string(greeting()) + frame(flagCommand, readyName+property("Socket-Type", socketType)+property("Identity", "attacker"))
}

// attacks are byte sequences of malicious peers, by the socket type that they claim.
var attacks = map[string]func(socketType string) string{
	"nothing":             func(string) string { return "" },
	"HTTP":                func(string) string { return "GET / HTTP/1.1\r\nHost: x\r\n\r\n" },
	"half a greeting":     func(string) string { return string(greeting()[:32]) },
	"only a greeting":     func(string) string { return string(greeting()) },
	"ZMTP 2":              func(string) string { return "\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x01\x05\x00\x00" },
	"another mechanism":   func(string) string { return strings.Replace(string(greeting()), "NULL", "GSSA", 1) },
	"unknown socket type": func(string) string { return opening("EVIL") },
	"no socket type":      func(string) string { return string(greeting()) + frame(flagCommand, readyName) },
	"READY with a cut value": func(string) string {
		return string(greeting()) + frame(flagCommand, readyName+"\x0bSocket-Type\x00\x00\xff\xffX")
	},
	"READY with a cut name": func(string) string { return string(greeting()) + frame(flagCommand, readyName+"\xff") },
	"READY of 2^62 bytes":   func(string) string { return string(greeting()) + "\x06\x40\x00\x00\x00\x00\x00\x00\x00" },
	"READY of 2^48 bytes":   func(string) string { return string(greeting()) + "\x06\x00\x01\x00\x00\x00\x00\x00\x00" },
	"READY as a message":    func(string) string { return string(greeting()) + frame(0, readyName) },
	"frame of 2^62 bytes":   func(t string) string { return opening(t) + "\x02\x40\x00\x00\x00\x00\x00\x00\x00" },
	"frame of 2^64-1 bytes": func(t string) string { return opening(t) + "\x02\xff\xff\xff\xff\xff\xff\xff\xff" },
	"frame of 8 GB, started": func(t string) string {
		return opening(t) + "\x02\x00\x00\x00\x02\x00\x00\x00\x00" + strings.Repeat("x", 1<<16)
	},
	"frame cut":              func(t string) string { return opening(t) + "\x00\xffhalf" },
	"header cut":             func(t string) string { return opening(t) + "\x02\x00\x00" },
	"a million frames":       func(t string) string { return opening(t) + strings.Repeat("\x01\x00", 1_000_000) },
	"unknown flags":          func(t string) string { return opening(t) + "\xff\x01x" },
	"unknown command":        func(t string) string { return opening(t) + frame(flagCommand, "\x05DANCE") },
	"command without a name": func(t string) string { return opening(t) + frame(flagCommand, "\xff") },
	"PING that is too long":  func(t string) string { return opening(t) + frame(flagCommand, pingName+strings.Repeat("x", 200)) },
	"READY twice":            func(t string) string { return opening(t) + opening(t)[greetingBytes:] },
	"empty message":          func(t string) string { return opening(t) + "\x00\x00" },
	"subscription to junk":   func(t string) string { return opening(t) + frame(0, "\x01\xff\xfe") },
	"no subscription":        func(t string) string { return opening(t) + strings.Repeat(frame(0, "\x07x"), 50) },
}

var socketTypes = map[Channel]string{Shell: "DEALER", Control: "DEALER", Stdin: "DEALER", IOPub: "SUB", heartbeat: "REQ"}

// Honest clients are served during and after each attack on each port, whether the
// attackers' connections are open or closed.
func TestAttacks(t *testing.T) {
	t.Parallel()
	s := open(t, anyPorts, defaultLimits)
	go discard(t, s)
	for name, attack := range attacks {
		for channel, socketType := range socketTypes {
			conn := dial(t, s, channel)
			// The kernel may close the connection at any point.
			_, _ = io.WriteString(conn, attack(socketType))
			if len(name)%2 == 0 {
				conn.Close()
			}
		}
	}
	alive(t, s)
}

// discard receives messages of attackers that are well-formed ZMTP but not messages of
// the protocol.
func discard(t *testing.T, s *Sockets) {
	for channel := range channels {
		go func() {
			for {
				frames, err := s.Receive(t.Context(), channel)
				if err != nil {
					return
				}
				if len(frames) > 1 && string(frames[0]) == "honest" {
					_ = s.Send(channel, frames)
				}
			}
		}()
	}
}

// alive checks that honest clients are served while discard runs.
func alive(t *testing.T, s *Sockets) {
	t.Helper()
	for _, channel := range []Channel{Shell, Control, Stdin} {
		c := client(t, s, channel, zmq4.NewDealer, "honest")
		if err := c.Send(zmq4.NewMsgFrom([]byte("a"), []byte("b"))); err != nil {
			t.Fatal(err)
		}
		if back, err := c.Recv(); err != nil || len(back.Frames) != 2 {
			t.Errorf("%s: got back %q, %v", channel, back.Frames, err)
		}
		c.Close()
	}
	sub := client(t, s, IOPub, zmq4.NewSub, "honest")
	if err := sub.SetOption(zmq4.OptionSubscribe, ""); err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 1)
	go func() { _, err := sub.Recv(); got <- err }()
	for { // until the subscription is in effect
		if err := s.Send(IOPub, [][]byte{[]byte("topic")}); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-got:
			if err != nil {
				t.Errorf("iopub: %v", err)
			}
		case <-time.After(10 * time.Millisecond):
			continue
		}
		break
	}
	sub.Close()
	beat := client(t, s, heartbeat, zmq4.NewReq, "honest")
	if err := beat.Send(zmq4.NewMsgString("ping")); err != nil {
		t.Fatal(err)
	}
	if m, err := beat.Recv(); err != nil || string(m.Bytes()) != "ping" {
		t.Errorf("heartbeat: %q, %v", m.Frames, err)
	}
	beat.Close()
}

// Openings with some bytes changed at random.
func TestMutatedConnections(t *testing.T) {
	t.Parallel()
	s := open(t, anyPorts, defaultLimits)
	go discard(t, s)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 1500 {
		channel := Channel(i % int(heartbeat+1))
		text := []byte(opening(socketTypes[channel]) + frame(flagMore, "a") + frame(0, "\x01bc"))
		for range 1 + random.IntN(4) {
			text[random.IntN(len(text))] = byte(random.Uint32())
		}
		conn := dial(t, s, channel)
		_, _ = conn.Write(text[:random.IntN(len(text)+1)])
		conn.Close()
	}
	alive(t, s)
}

// Silent peers block nobody, and the oldest of them are disconnected.
func TestHalfOpenConnections(t *testing.T) {
	t.Parallel()
	limits := defaultLimits
	limits.pending = 8
	s := open(t, anyPorts, limits)
	first := dial(t, s, Shell)
	for range 3 * limits.pending {
		for channel := range socketTypes {
			dial(t, s, channel)
		}
	}
	served(t, s)
	if got, err := io.ReadAll(first); err != nil && !errors.Is(err, io.EOF) || !bytes.Equal(got, greeting()) {
		t.Logf("the oldest was disconnected with %v", err) // a reset or EOF
	}
}

func TestHandshakeHasADeadline(t *testing.T) {
	t.Parallel()
	limits := defaultLimits
	limits.handshake = 50 * time.Millisecond
	s := open(t, anyPorts, limits)
	conn := dial(t, s, Shell)
	_, _ = conn.Write(greeting()[:10]) // on a busy machine, after the deadline
	if got, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) || !bytes.Equal(got, greeting()) {
		t.Errorf("read %q, %v, want our greeting and the end", got, err)
	}
}

// The resources of peers are released when they disconnect.
func TestPeersAreReleased(t *testing.T) {
	s := open(t, anyPorts, defaultLimits)
	go discard(t, s)
	alive(t, s)
	count := func() (goroutines, files, connections int) {
		entries, _ := os.ReadDir("/proc/self/fd")
		for _, g := range s.guards {
			g.mu.Lock()
			connections += len(g.pending) + len(g.peers)
			g.mu.Unlock()
		}
		return runtime.NumGoroutine(), len(entries), connections
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	goroutines, files, _ := count()
	connect := func() {
		for range 400 {
			for channel, socketType := range socketTypes {
				a := s.address(channel)
				conn, err := net.Dial(a.Network(), a.String()) // dial would keep it open until the end of the test
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.WriteString(conn, opening(socketType)+"\x00\xffcut")
				conn.Close()
			}
		}
	}
	// Maps keep the size for the largest number of connections so far.
	connect()
	for deadline := time.Now().Add(timeout); ; time.Sleep(10 * time.Millisecond) {
		if _, _, connections := count(); connections == 0 || time.Now().After(deadline) {
			break
		}
	}
	before := heap()
	connect()
	// There is no event for that.
	for deadline := time.Now().Add(timeout); ; time.Sleep(10 * time.Millisecond) {
		g, f, connections := count()
		if connections == 0 && g <= goroutines && f <= files && heap() < before+2<<20 {
			break
		}
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d connections; %d goroutines, were %d; %d files, were %d; %d bytes, were %d\n%s",
				connections, g, goroutines, f, files, heap(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// subscriber connects, subscribes to everything, and reads nothing.
func subscriber(t *testing.T, s *Sockets) net.Conn {
	t.Helper()
	conn := dial(t, s, IOPub)
	if _, err := io.WriteString(conn, opening("SUB")+frame(0, "\x01")); err != nil {
		t.Fatal(err)
	}
	receive(t, s, IOPub)
	return conn
}

// A subscriber that does not read delays the others only once.
func TestSubscriberThatDoesNotRead(t *testing.T) {
	t.Parallel()
	limits := defaultLimits
	limits.queue, limits.unsent, limits.progress = 1<<20, 1<<20, 1 // honest clients may be slow on a slow machine
	s := open(t, anyPorts, limits)
	subscriber(t, s)
	honest := client(t, s, IOPub, zmq4.NewSub, "")
	if err := honest.SetOption(zmq4.OptionSubscribe, ""); err != nil {
		t.Fatal(err)
	}
	receive(t, s, IOPub)
	const n = 3000
	got := make(chan int, 1)
	go func() {
		count := 0
		for ; count < n; count++ {
			if m, err := honest.Recv(); err != nil || string(m.Frames[0]) != fmt.Sprint(count) {
				break
			}
		}
		got <- count
	}()
	body := bytes.Repeat([]byte("x"), 10_000) // 30 MB in all
	for i := range n {
		if err := s.Send(IOPub, [][]byte{fmt.Append(nil, i), body}); err != nil {
			t.Fatal(err)
		}
	}
	if count := <-got; count != n {
		t.Errorf("%d of %d messages, or out of order", count, n)
	}
	late := client(t, s, IOPub, zmq4.NewSub, "")
	if err := late.SetOption(zmq4.OptionSubscribe, ""); err != nil {
		t.Fatal(err)
	}
	receive(t, s, IOPub)
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	if err := s.Drain(ctx); err != nil { // it does not wait for the stalled one
		t.Error(err)
	}
}

// A client that does not read its replies is disconnected, and delays the others only
// once.
func TestClientThatDoesNotReadReplies(t *testing.T) {
	t.Parallel()
	limits := defaultLimits
	limits.queue, limits.stall = 1<<20, 50*time.Millisecond
	s := open(t, anyPorts, limits)
	conn := dial(t, s, Shell)
	if _, err := io.WriteString(conn, opening("DEALER")+frame(0, "request")); err != nil {
		t.Fatal(err)
	}
	request := receive(t, s, Shell)
	body := bytes.Repeat([]byte("x"), 100_000)
	for range 200 { // 20 MB
		if err := s.Send(Shell, [][]byte{request[0], body}); err != nil {
			break // reported once
		}
	}
	served(t, s)
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the client is still connected")
	}
}

func TestPing(t *testing.T) {
	t.Parallel()
	s := open(t, anyPorts, defaultLimits)
	for channel, socketType := range socketTypes {
		conn := dial(t, s, channel)
		if _, err := io.WriteString(conn, opening(socketType)+frame(flagCommand, pingName+"\x00\x07ctx")); err != nil {
			t.Fatal(err)
		}
		want := frame(flagCommand, pongName+"ctx")
		var got []byte
		for b := make([]byte, 256); !bytes.HasSuffix(got, []byte(want)); {
			n, err := conn.Read(b)
			if err != nil {
				t.Fatalf("%s: %q, %v", channel, got, err)
			}
			got = append(got, b[:n]...)
		}
	}
}

func TestDrain(t *testing.T) {
	t.Parallel()
	s := open(t, anyPorts, defaultLimits)
	conn := subscriber(t, s)
	body := bytes.Repeat([]byte("x"), 1000)
	const n = 10_000 // more than fits into the buffers of the connection
	for range n {
		if err := s.Send(IOPub, [][]byte{[]byte("t"), body}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := s.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with output waiting: %v", err)
	}
	read := make(chan int64, 1)
	go func() {
		n, _ := io.Copy(io.Discard, conn)
		read <- n
	}()
	ctx, cancel = context.WithTimeout(t.Context(), timeout)
	defer cancel()
	if err := s.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := <-read; got < n*int64(len(body)) {
		t.Errorf("%d bytes came, %d were sent", got, n*len(body))
	}
}

func TestClosedSockets(t *testing.T) {
	t.Parallel()
	s := open(t, anyPorts, defaultLimits)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Receive(t.Context(), Shell); !errors.Is(err, ErrClosed) {
		t.Errorf("receive: %v", err)
	}
	if err := s.Send(Shell, nil); err == nil {
		t.Error("a message without frames was sent")
	}
}
