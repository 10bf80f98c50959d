package comm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quernlab/quern/widgets/comm"
)

// frontEnd records what is sent to it.
type frontEnd struct{ got []comm.Message }

func (f *frontEnd) Send(m comm.Message) error { f.got = append(f.got, m); return nil }
func (f *frontEnd) Guard(g func()) func()     { return g }

func (f *frontEnd) Interactive() bool { return true }

func connect(t *testing.T) *frontEnd {
	f := &frontEnd{}
	previous := comm.SetHost(f)
	t.Cleanup(func() { comm.SetHost(previous) })
	return f
}

func TestMessagesInBothDirections(t *testing.T) {
	f := connect(t)
	c, err := comm.Open("their.target", map[string]int{"x": 1}, nil, []byte("b"))
	if err != nil {
		t.Fatal(err)
	}
	var heard []string
	c.OnMessage(func(m comm.Message) { heard = append(heard, string(m.Data)) })
	c.OnClose(func(comm.Message) { heard = append(heard, "closed") })
	if err := c.Send("hello"); err != nil {
		t.Fatal(err)
	}
	for _, m := range []comm.Message{
		{Kind: comm.KindMessage, ID: c.ID(), Data: json.RawMessage(`1`)},
		{Kind: comm.KindMessage, ID: "unknown", Data: json.RawMessage(`2`)},
		{Kind: comm.KindClose, ID: c.ID()},
		{Kind: comm.KindMessage, ID: c.ID(), Data: json.RawMessage(`3`)},
		{Kind: comm.KindClose, ID: c.ID()},
	} {
		if !comm.Deliver(m) {
			t.Errorf("%v is unknown", m)
		}
	}
	if want := []string{"1", "closed"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
	if err := c.Send("late"); !errors.Is(err, comm.ErrClosed) {
		t.Errorf("a message to a closed comm: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	if len(f.got) != 2 || f.got[0].Kind != comm.KindOpen || string(f.got[0].Data) != `{"x":1}` || string(f.got[0].Buffers[0]) != "b" ||
		f.got[1].Kind != comm.KindMessage || string(f.got[1].Data) != `"hello"` {
		t.Errorf("sent %+v", f.got)
	}
}

func TestTargets(t *testing.T) {
	f := connect(t)
	comm.Register("ours", func(c *comm.Comm, m comm.Message) {
		c.OnMessage(func(m comm.Message) { _ = c.Send(m.Data) })
		_ = c.Send("welcome")
	})
	t.Cleanup(func() { comm.Register("ours", nil) })
	if comm.Deliver(comm.Message{Kind: comm.KindOpen, ID: "1", Target: "theirs"}) {
		t.Error("an unknown target was known")
	}
	if !comm.Deliver(comm.Message{Kind: comm.KindOpen, ID: "2", Target: "ours"}) {
		t.Error("a registered target was unknown")
	}
	comm.Deliver(comm.Message{Kind: comm.KindMessage, ID: "2", Data: json.RawMessage(`[1]`)})
	if len(f.got) != 2 || string(f.got[0].Data) != `"welcome"` || string(f.got[1].Data) != `[1]` {
		t.Errorf("sent %+v", f.got)
	}
}

func TestWithoutFrontEnd(t *testing.T) {
	if _, err := comm.Open("x", nil, nil); !errors.Is(err, comm.ErrNoFrontEnd) {
		t.Errorf("got %v", err)
	}
	connect(t)
	if _, err := comm.Open("x", func() {}, nil); err == nil {
		t.Error("a function has a JSON form")
	}
}

// A handler that never returns keeps others waiting for a moment, once.
func TestEndlessHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connect(t)
		open := func(name string) *comm.Comm {
			c, err := comm.Open(name, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		stuck, other := open("stuck"), open("other")
		var mu sync.Mutex
		var heard []string
		note := func(s string) { mu.Lock(); defer mu.Unlock(); heard = append(heard, s) }
		release := make(chan struct{})
		stuck.OnMessage(func(m comm.Message) { note("stuck " + string(m.Data)); <-release })
		other.OnMessage(func(m comm.Message) { note("other " + string(m.Data)) })
		send := func(c *comm.Comm, data string) time.Duration {
			began := time.Now()
			comm.Deliver(comm.Message{Kind: comm.KindMessage, ID: c.ID(), Data: json.RawMessage(data)})
			return time.Since(began)
		}
		if d := send(stuck, "1"); d != time.Second {
			t.Errorf("its message took %v", d)
		}
		for i := range 5 {
			if d := send(other, fmt.Sprint(i)) + send(stuck, fmt.Sprint(i+2)); d != 0 {
				t.Errorf("others waited for %v", d)
			}
		}
		if want := []string{"stuck 1", "other 0", "other 1", "other 2", "other 3", "other 4"}; !slices.Equal(heard, want) {
			t.Errorf("heard %q, want %q", heard, want)
		}
		close(release)
		synctest.Wait()
		if want := []string{"stuck 2", "stuck 3", "stuck 4", "stuck 5", "stuck 6"}; !slices.Equal(heard[6:], want) {
			t.Errorf("then heard %q, want %q", heard[6:], want)
		}
		if d := send(stuck, "7"); d != 0 || heard[len(heard)-1] != "stuck 7" {
			t.Errorf("afterwards %v, %q", d, heard)
		}
	})
}

// The messages that wait for a blocked handler are limited, and the newest remain.
func TestFloodOfAStuckHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connect(t)
		c, err := comm.Open("stuck", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		release, last, calls := make(chan struct{}), "", 0
		c.OnMessage(func(m comm.Message) { <-release; last = string(m.Data); calls++ })
		for i := range 100_000 {
			comm.Deliver(comm.Message{Kind: comm.KindMessage, ID: c.ID(), Data: json.RawMessage(fmt.Sprint(i))})
		}
		close(release)
		synctest.Wait()
		if last != "99999" || calls > 1000 {
			t.Errorf("%d calls, the last with %s", calls, last)
		}
	})
}
