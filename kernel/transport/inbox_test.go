package transport

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

var testLimits = func() limits {
	l := defaultLimits
	l.message, l.frames = 256<<10, 4
	return l
}()

// frame returns a frame with flags, in the long form if necessary.
func frame(flags byte, body string) string {
	if len(body) > 255 {
		return string(binary.BigEndian.AppendUint64([]byte{flags | flagLong}, uint64(len(body)))) + body
	}
	return string([]byte{flags, byte(len(body))}) + body
}

// readAll returns what a new inbox passes on of the bytes of a peer.
func readAll(role role, sent string) (passed string, pongs, topics []string, err error) {
	i := &inbox{
		r: strings.NewReader(sent), role: role, limits: testLimits,
		subscribed: func(topic []byte) { topics = append(topics, string(topic)) },
		pong:       func(f []byte) error { pongs = append(pongs, string(f)); return nil },
	}
	b, err := io.ReadAll(i)
	return string(b), pongs, topics, err
}

func TestInbox(t *testing.T) {
	t.Parallel()
	const more, command = flagMore, flagCommand
	shell, iopub, beat := roleOf(Shell), roleOf(IOPub), roleOf(heartbeat)
	large := strings.Repeat("x", 3*passSize)
	ping := frame(command, pingName+"\x00\x07context")
	for _, row := range []struct {
		name          string
		role          role
		in            string
		want          string // what is passed on
		pongs, topics []string
		err           error
	}{
		{name: "nothing", role: shell},
		{name: "messages", role: shell, in: frame(more, "a") + frame(0, "") + frame(0, large), want: frame(more, "a") + frame(0, "") + frame(0, large)},
		{name: "a long frame that could be short", role: shell, in: "\x02\x00\x00\x00\x00\x00\x00\x00\x01x", want: "\x02\x00\x00\x00\x00\x00\x00\x00\x01x"},
		{name: "PING", role: shell, in: frame(0, "a") + ping + frame(0, "b"), want: frame(0, "a") + frame(0, "b"), pongs: []string{frame(command, pongName+"context")}},
		{name: "PING without a context", role: shell, in: frame(command, pingName+"\x00\x07"), pongs: []string{frame(command, pongName)}},
		{name: "PING with a long context", role: shell, in: frame(command, pingName+"\x00\x07"+strings.Repeat("x", 17)), err: errProtocol},
		{name: "PING cut", role: shell, in: frame(command, pingName)},
		{name: "another command", role: shell, in: frame(command, "\x04PONG") + frame(command, "\x05HELLO12"), want: ""},
		{name: "command inside a message", role: shell, in: frame(more, "a") + ping, want: frame(more, "a"), err: errProtocol},
		{name: "command with more", role: shell, in: frame(command|more, pingName+"\x00\x07"), err: errProtocol},
		{name: "command without a name", role: shell, in: frame(command, "\x09PING"), err: errProtocol},
		{name: "empty command", role: shell, in: frame(command, ""), err: errProtocol},
		{name: "long command", role: shell, in: frame(command, strings.Repeat("x", maxCommand+1)), err: errProtocol},
		{name: "unknown flags", role: shell, in: "\x10\x01x", err: errProtocol},
		{name: "2^62 bytes", role: shell, in: "\x02\x40\x00\x00\x00\x00\x00\x00\x00", err: errProtocol},
		{name: "2^63 bytes", role: shell, in: "\x02\x80\x00\x00\x00\x00\x00\x00\x00", err: errProtocol},
		{name: "2^64-1 bytes", role: shell, in: "\x02\xff\xff\xff\xff\xff\xff\xff\xff", err: errProtocol},
		{name: "a message over the limit in all", role: shell, in: frame(more, large) + frame(0, large), want: frame(more, large), err: errProtocol},
		{name: "two messages are two", role: shell, in: frame(0, large) + frame(0, large), want: frame(0, large) + frame(0, large)},
		{name: "too many frames", role: shell, in: strings.Repeat(frame(more, ""), 5), want: strings.Repeat(frame(more, ""), 4), err: errProtocol},
		{name: "cut in a header", role: shell, in: "\x02\x00\x00", err: io.ErrUnexpectedEOF},
		{name: "cut in a large body", role: shell, in: frame(0, large)[:passSize*2], err: io.ErrUnexpectedEOF},

		{name: "subscriptions", role: iopub, in: frame(0, "\x01") + frame(0, "\x01a") + frame(0, "\x00a"), want: frame(0, "\x01") + frame(0, "\x01a") + frame(0, "\x00a"), topics: []string{"", "a"}},
		{name: "no subscription", role: iopub, in: frame(0, "\x02"), err: errProtocol},
		{name: "empty message to PUB", role: iopub, in: frame(0, ""), err: errProtocol},
		{name: "message of frames to PUB", role: iopub, in: frame(more, "\x01"), err: errProtocol},
		{name: "long subscription", role: iopub, in: frame(0, "\x01"+strings.Repeat("x", maxSubscription)), err: errProtocol},
		{name: "PING to PUB", role: iopub, in: ping, pongs: []string{frame(command, pongName+"context")}},

		{name: "long heartbeat", role: beat, in: frame(0, strings.Repeat("x", maxBeat+1)), err: errProtocol},
		{name: "heartbeat", role: beat, in: frame(more, "") + frame(0, "ping"), want: frame(more, "") + frame(0, "ping")},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			passed, pongs, topics, err := readAll(row.role, row.in)
			if !errors.Is(err, row.err) {
				t.Errorf("error %v, want %v", err, row.err)
			}
			if passed != row.want {
				t.Errorf("passed %.80q, want %.80q", passed, row.want)
			}
			if !slices.Equal(pongs, row.pongs) || !slices.Equal(topics, row.topics) {
				t.Errorf("pongs %q, want %q; topics %q, want %q", pongs, row.pongs, topics, row.topics)
			}
		})
	}
}

// Announced sizes are not allocated.
func TestInboxAllocatesReceivedBytes(t *testing.T) {
	in := "\x02\x00\x00\x00\x00\x10\x00\x00\x00" + strings.Repeat("x", 1000) // announces 256 MB
	bytesUsed := testing.AllocsPerRun(1, func() {
		i := &inbox{r: strings.NewReader(in), role: roleOf(Shell), limits: defaultLimits}
		if _, err := io.ReadAll(i); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
		if cap(i.checked) > passSize*2 {
			t.Errorf("%d bytes allocated", cap(i.checked))
		}
	})
	if bytesUsed > 20 {
		t.Errorf("%v allocations", bytesUsed)
	}
}

// zmq reads frames as zmq4 does, which trusts each header.
func zmq(t *testing.T, r io.Reader) {
	for {
		var h [9]byte
		if _, err := io.ReadFull(r, h[:2]); err != nil {
			return
		}
		size := uint64(h[1])
		if h[0]&flagLong != 0 {
			if _, err := io.ReadFull(r, h[2:]); err != nil {
				return
			}
			size = binary.BigEndian.Uint64(h[1:])
		}
		if h[0]&flagCommand != 0 || size > uint64(testLimits.message) {
			t.Fatalf("passed a frame with flags %#x and %d bytes", h[0], size)
		}
		if _, err := io.ReadFull(r, make([]byte, size)); err != nil {
			return
		}
	}
}

func FuzzInbox(f *testing.F) {
	f.Add([]byte(frame(flagMore, "a")+frame(0, strings.Repeat("x", passSize+1))), false)
	f.Add([]byte(frame(flagCommand, pingName+"\x00\x07context")), false)
	f.Add([]byte(frame(0, "\x01topic")+frame(0, "\x00topic")), true)
	f.Add([]byte("\x02\x40\x00\x00\x00\x00\x00\x00\x00"), false)
	f.Fuzz(func(t *testing.T, in []byte, publishes bool) {
		role := roleOf(Shell)
		if publishes {
			role = roleOf(IOPub)
		}
		zmq(t, &inbox{
			r: bytes.NewReader(in), role: role, limits: testLimits,
			subscribed: func([]byte) {},
			pong: func(f []byte) error {
				if len(f) > 2+len(pongName)+maxContext {
					t.Fatalf("PONG of %d bytes", len(f))
				}
				return nil
			},
		})
	})
}
