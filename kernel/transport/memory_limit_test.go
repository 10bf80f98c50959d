package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/go-zeromq/zmq4"
)

// signedIs accepts messages that end with a word as signed.
func signedIs(word string) func([][]byte) error {
	return func(frames [][]byte) error {
		if string(frames[len(frames)-1]) != word {
			return errors.New("wrong signature")
		}
		return nil
	}
}

// verifying opens sockets that accept messages that end with "key".
func verifying(t *testing.T, limits limits) *Sockets {
	t.Helper()
	s, err := listen(t.Context(), anyPorts, quiet, limits, nil, signedIs("key"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// held returns the number of bytes counted for all connections.
func (s *Sockets) held() int64 {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	return s.memory.total
}

// TestMemoryBeforeAuthentication makes clients without the key send as much as they can
// on all channels, and one with the key among them.
func TestMemoryBeforeAuthentication(t *testing.T) {
	limits := defaultLimits
	limits.unverified = 1 << 20
	s := verifying(t, limits)
	const large = 64 << 20
	long := func(flags byte, size uint64) string {
		return string(binary.BigEndian.AppendUint64([]byte{flags | flagLong}, size))
	}
	attacks := map[string]func(w io.Writer){
		"a frame":   func(w io.Writer) { fill(w, long(0, large), large) },
		"frames":    func(w io.Writer) { fill(w, "", large) },
		"unsigned":  func(w io.Writer) { unsigned(w, large) },
		"two parts": func(w io.Writer) { fill(w, long(flagMore, large/2), large/2); fill(w, long(0, large/2), large/2) },
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var attackers sync.WaitGroup
	for _, attack := range attacks {
		for _, channel := range []Channel{Shell, Control, Stdin} {
			conn := dial(t, s, channel)
			attackers.Go(func() {
				// The kernel may close the connection at any point.
				_, _ = io.WriteString(conn, opening("DEALER"))
				attack(conn)
			})
		}
	}
	for range 20 {
		c := client(t, s, Shell, zmq4.NewDealer, "honest")
		if err := c.Send(zmq4.NewMsgFrom([]byte("hello"), []byte("key"))); err != nil {
			t.Fatal(err)
		}
		if got := receive(t, s, Shell); fmt.Sprintf("%q", got) != `["honest" "hello" "key"]` {
			t.Errorf("received %q", got)
		}
		if held := s.held(); held > limits.unverified {
			t.Errorf("%d bytes are kept, over the limit of %d", held, limits.unverified)
		}
		c.Close()
	}
	attackers.Wait()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 16*limits.unverified {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
}

// fill writes a header and size bytes, or frames of 32 KB with as many bytes.
func fill(w io.Writer, header string, size int) {
	if _, err := io.WriteString(w, header); err != nil {
		return
	}
	piece := strings.Repeat("x", 32<<10)
	if header == "" {
		piece = frame(flagMore, piece)
	}
	for range size / len(piece) {
		if _, err := io.WriteString(w, piece); err != nil {
			return
		}
	}
}

// unsigned writes complete messages without a signature.
func unsigned(w io.Writer, size int) {
	message := frame(0, strings.Repeat("x", 32<<10))
	for range size / len(message) {
		if _, err := io.WriteString(w, message); err != nil {
			return
		}
	}
}

// An authenticated peer may send large messages with any number of frames.
func TestMemoryAfterAuthentication(t *testing.T) {
	t.Parallel()
	limits := defaultLimits
	limits.unverified = 1 << 20
	s := verifying(t, limits)
	c := client(t, s, Shell, zmq4.NewDealer, "honest")
	for _, message := range [][][]byte{{[]byte("a"), []byte("key")}, {make([]byte, 4<<20), make([]byte, 4<<20), []byte("key")}, {[]byte("unsigned")}} {
		if err := c.Send(zmq4.NewMsgFrom(message...)); err != nil {
			t.Fatal(err)
		}
		if got := receive(t, s, Shell); len(got) != len(message)+1 || len(got[1]) != len(message[0]) {
			t.Errorf("received %d frames", len(got))
		}
	}
	if held := s.held(); held != 0 {
		t.Errorf("%d bytes are counted", held)
	}
	// Dropped messages do not end the connection.
	other := client(t, s, Control, zmq4.NewDealer, "other")
	for _, word := range []string{"no", "key"} {
		if err := other.Send(zmq4.NewMsgFrom([]byte("b"), []byte(word))); err != nil {
			t.Fatal(err)
		}
	}
	if got := receive(t, s, Control); string(got[2]) != "key" {
		t.Errorf("received %q", got)
	}
}

// TestIntakeEvictsTheLargest checks whose connection is closed.
func TestIntakeEvictsTheLargest(t *testing.T) {
	t.Parallel()
	var evicted []string
	in := newMemoryLimit(100)
	hold := func(name string) *memoryShare { return in.share(func() { evicted = append(evicted, name) }) }
	a, b, c := hold("a"), hold("b"), hold("c")
	for _, step := range []struct {
		h    *memoryShare
		n    int64
		err  error
		want string
	}{
		{a, 60, nil, ""}, {b, 30, nil, ""}, {c, 20, nil, "a"}, {b, 60, errProtocol, "a"}, {c, 1, nil, "a"},
	} {
		if err := step.h.take(step.n); !errors.Is(err, step.err) || strings.Join(evicted, " ") != step.want {
			t.Fatalf("take %d: %v, evicted %q", step.n, err, evicted)
		}
	}
	b.authenticate()
	if err := b.take(1000); err != nil || in.total != 21 {
		t.Errorf("%v, %d", err, in.total)
	}
	c.give(1000)
	c.release()
	if in.total != 0 {
		t.Errorf("%d are left", in.total)
	}
}

// The topics of a subscriber are limited.
func TestManySubscriptions(t *testing.T) {
	t.Parallel()
	iopub := roleOf(IOPub)
	var many strings.Builder
	for n := range 1000 {
		many.WriteString(frame(0, fmt.Sprintf("\x01topic %d", n)))
	}
	if _, _, topics, err := readAll(iopub, many.String()); !errors.Is(err, errProtocol) || len(topics) > maxTopics/frameOverhead {
		t.Errorf("%v, %d topics", err, len(topics))
	}
	again := strings.Repeat(frame(0, "\x01a")+frame(0, "\x00a"), 1000)
	if _, _, topics, err := readAll(iopub, again); err != nil || len(topics) != 1000 {
		t.Errorf("subscribing again and again: %v, %d topics", err, len(topics))
	}
}

// A peer that sends PINGs without reading the replies has only a few of them queued.
func TestPingsThatAreNotRead(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer theirs.Close()
	o := newOutbox(ours, defaultLimits, false, quiet)
	defer o.conn.Close()
	for range 10 * maxPongs {
		if err := o.pong([]byte("pong")); err != nil {
			t.Fatal(err)
		}
	}
	if len(o.queue) > maxPongs {
		t.Errorf("%d wait", len(o.queue))
	}
	for len(o.queue) > 0 {
		o.take()
	}
	if err := o.pong([]byte("pong")); err != nil || len(o.queue) != 1 {
		t.Errorf("%v, %d wait", err, len(o.queue))
	}
}

func FuzzGather(f *testing.F) {
	f.Add([]byte(frame(flagMore, "a") + frame(0, "key") + frame(0, "after")))
	f.Add([]byte(frame(flagMore, strings.Repeat("x", 3*firstPiece)) + frame(0, "no")))
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x0f\x00\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		limit := newMemoryLimit(64 << 10)
		i := &inbox{
			r: strings.NewReader(string(in)), role: roleOf(Shell), limits: testLimits, pong: func([]byte) error { return nil },
			verify: signedIs("key"), refused: func(error) {}, memory: limit.share(func() {}),
		}
		passed, _ := io.ReadAll(i)
		if len(passed) > 0 && !strings.Contains(string(passed), "key") {
			t.Errorf("passed %q", passed)
		}
		if limit.total < 0 || limit.total > limit.limit {
			t.Errorf("%d are counted", limit.total)
		}
	})
}
