package transport

import (
	"bytes"
	"net"
	"testing"
)

// TestFirstComesFirst checks that a subscriber receives nothing before its welcome, not
// even messages that zmq4 had queued when the subscription arrived.
func TestFirstComesFirst(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	p := &peer{
		guard:  &guard{first: func(frame []byte) bool { return bytes.Equal(frame, []byte("welcome")) }},
		outbox: newOutbox(ours, defaultLimits, true, quiet),
	}
	say := func(text string) {
		t.Helper()
		frame := []byte(text)
		if err := p.deliver(net.Buffers{{0, byte(len(frame))}, frame}, int64(2+len(frame))); err != nil {
			t.Fatal(err)
		}
	}
	say("busy")
	if len(p.outbox.queue) != 0 {
		t.Errorf("received before the welcome: %q", p.outbox.queue)
	}
	say("welcome")
	say("idle")
	if n := len(p.outbox.queue); n != 2 {
		t.Errorf("want the welcome and what follows, got %d messages", n)
	}
}
