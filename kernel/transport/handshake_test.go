package transport

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// property returns a property of a READY command.
func property(name, value string) string {
	return string(rune(len(name))) + name + string([]byte{0, 0, byte(len(value) >> 8), byte(len(value))}) + value
}

// readyFrame returns the frame of a READY command, in the short form.
func readyFrame(body string) string { return "\x04" + string([]byte{byte(len(body))}) + body }

func TestReadGreeting(t *testing.T) {
	t.Parallel()
	changed := func(at int, to byte) string {
		g := greeting()
		g[at] = to
		return string(g)
	}
	for _, row := range []struct {
		name, in string
		want     error
	}{
		{"ours", string(greeting()), nil},
		{"version 3.1", changed(11, 1), nil},
		{"version 4", changed(10, 4), nil},
		{"a server", changed(32, 1), nil},
		{"nothing", "", io.EOF},
		{"HTTP", "GET / HTTP/1.1\r\n\r\n", errProtocol},
		{"cut", string(greeting()[:40]), io.ErrUnexpectedEOF},
		{"signature cut short", changed(9, 0), errProtocol},
		{"version 2", changed(10, 2), errProtocol},
		{"CURVE", changed(12, 'C'), errProtocol},
		{"neither server nor client", changed(32, 2), errProtocol},
	} {
		if _, err := readGreeting(strings.NewReader(row.in)); !errors.Is(err, row.want) {
			t.Errorf("%s: got %v, want %v", row.name, err, row.want)
		}
	}
}

func TestReadReady(t *testing.T) {
	t.Parallel()
	dealer := property("Socket-Type", "DEALER")
	for _, row := range []struct {
		name, in string
		want     error
	}{
		{"a DEALER", readyFrame(readyName + dealer), nil},
		{"with an identity", readyFrame(readyName + dealer + property("Identity", "me")), nil},
		{"with another property", readyFrame(readyName + property("X-a.b+c", "") + dealer), nil},
		{"long", "\x06\x00\x00\x00\x00\x00\x00\x00" + string(rune(len(readyName+dealer))) + readyName + dealer, nil},
		{"nothing", "", io.EOF},
		{"cut", readyFrame(readyName + dealer)[:9], io.ErrUnexpectedEOF},
		{"a message", "\x00" + readyFrame(readyName + dealer)[1:], errProtocol},
		{"more to come", "\x05" + readyFrame(readyName + dealer)[1:], errProtocol},
		{"unknown flags", "\x84" + readyFrame(readyName + dealer)[1:], errProtocol},
		{"another command", readyFrame("\x05HELLO" + dealer), errProtocol},
		{"empty", readyFrame(""), errProtocol},
		{"huge", "\x06\x00\x00\x00\x00\x00\x01\x00\x00", errProtocol},
		{"enormous", "\x06\x40\x00\x00\x00\x00\x00\x00\x00", errProtocol},
		{"no type", readyFrame(readyName), errProtocol},
		{"an unknown type", readyFrame(readyName + property("Socket-Type", "EVIL")), errProtocol},
		{"a type that may not connect", readyFrame(readyName + property("Socket-Type", "PUB")), errProtocol},
		{"a property twice", readyFrame(readyName + dealer + dealer), errProtocol},
		{"a name cut", readyFrame(readyName + "\x0bSock"), errProtocol},
		{"a name without a value", readyFrame(readyName + "\x0bSocket-Type"), errProtocol},
		{"a name of nothing", readyFrame(readyName + "\x00\x00\x00\x00\x00"), errProtocol},
		{"a name of control characters", readyFrame(readyName + property("a\x01", "x") + dealer), errProtocol},
		{"a value cut", readyFrame(readyName + "\x0bSocket-Type\x00\x00\x00\xffDEALER"), errProtocol},
		{"a value of 4 GB", readyFrame(readyName + "\x0bSocket-Type\xff\xff\xff\xffDEALER"), errProtocol},
		{"an identity of ZMQ's own", readyFrame(readyName + dealer + property("Identity", "\x00x")), errProtocol},
	} {
		frame, err := readReady(strings.NewReader(row.in), roleOf(Shell).peers)
		if !errors.Is(err, row.want) || err == nil && string(frame) != row.in {
			t.Errorf("%s: got %q, %v, want %v", row.name, frame, err, row.want)
		}
	}
	long := property("Identity", strings.Repeat("x", 256))
	if _, err := readReady(strings.NewReader(frame(flagCommand, readyName+dealer+long)), roleOf(Shell).peers); !errors.Is(err, errProtocol) {
		t.Errorf("an identity of 256 bytes: %v", err)
	}
}

func FuzzReadReady(f *testing.F) {
	f.Add([]byte(readyFrame(readyName + property("Socket-Type", "DEALER") + property("Identity", "me"))))
	f.Add([]byte(readyFrame(readyName + "\x0bSocket-Type\x00\x00\x00\xffDEALER")))
	f.Add([]byte("\x06\x40\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		frame, err := readReady(bytes.NewReader(in), []string{"DEALER"})
		if err == nil && (!bytes.HasPrefix(in, frame) || !bytes.Contains(frame, []byte("DEALER"))) {
			t.Fatalf("%q read as %q", in, frame)
		}
	})
}
