package comm_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/quernlab/quern/widgets/comm"
)

// frontEnd keeps what is sent to it.
type frontEnd struct{ got []comm.Message }

func (f *frontEnd) Send(m comm.Message) error { f.got = append(f.got, m); return nil }
func (f *frontEnd) Guard(g func()) func()     { return g }

func connect(t *testing.T) *frontEnd {
	f := &frontEnd{}
	previous := comm.SetHost(f)
	t.Cleanup(func() { comm.SetHost(previous) })
	return f
}

func TestBothWays(t *testing.T) {
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
