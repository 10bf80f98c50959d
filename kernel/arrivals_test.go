package kernel

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/wire"
)

// failing makes the worker fail the cell "fail" after a time, and run all others, "one" until the next has arrived.
func (c *client) failing(after time.Duration) {
	c.worker.execute = func(_ context.Context, r link.Execute) (link.Result, error) {
		if r.Code == "one" {
			time.Sleep(time.Millisecond)
		}
		if r.Code != "fail" {
			return link.Result{}, nil
		}
		time.Sleep(after)
		return link.Result{Error: &link.CellError{Name: "panic", Value: "boom"}}, nil
	}
}

// Cells that a client is still sending when the first one has failed are aborted, and
// those that it sends with knowledge of the reply run.
func TestCellsInTransitAreAborted(t *testing.T) {
	for _, gap := range []time.Duration{0, time.Millisecond, settlePeriod - 1} {
		synctest.Test(t, func(t *testing.T) {
			c := newClient(t)
			c.failing(0)
			c.queueCells()
			ids := []string{c.send(transport.Shell, wire.ExecuteRequest, `{"code":"fail"}`)}
			for range 4 {
				time.Sleep(gap)
				ids = append(ids, c.send(transport.Shell, wire.ExecuteRequest, `{"code":"next"}`))
			}
			for i, id := range ids {
				want := `"status":"aborted"`
				if i == 0 {
					want = `"status":"error"`
				}
				if reply := c.reply(transport.Shell, id); !strings.Contains(reply, want) {
					t.Errorf("gap %v, cell %d: %s, want %s", gap, i, reply, want)
				}
			}
			next := c.send(transport.Shell, wire.ExecuteRequest, `{"code":"next"}`)
			if reply := c.reply(transport.Shell, next); !strings.Contains(reply, `"status":"ok"`) {
				t.Errorf("gap %v, after the reply: %s", gap, reply)
			}
			c.end()
		})
	}
}

// queueCells sends a cell before the reply to another one, as a client does that runs all cells.
func (c *client) queueCells() {
	c.t.Helper()
	first, second := c.send(transport.Shell, wire.ExecuteRequest, `{"code":"one"}`), c.send(transport.Shell, wire.ExecuteRequest, `{"code":"two"}`)
	c.reply(transport.Shell, first)
	c.reply(transport.Shell, second)
	time.Sleep(time.Second)
}

// A cell that was sent before the reply to a failed cell is aborted, however late it arrives; the one that is
// sent after the reply runs.
func TestCellsSentBeforeTheReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t)
		c.failing(5 * time.Millisecond)
		send := func() func() string {
			time.Sleep(time.Microsecond)
			m := wire.Outgoing{Type: wire.ExecuteRequest, Content: json.RawMessage(`{"code":"next"}`), ID: c.codec.NewID(), Identities: [][]byte{[]byte("client")}}
			frames, err := c.codec.Encode(m)
			if err != nil {
				t.Fatal(err)
			}
			return func() string { c.sockets.Deliver(transport.Shell, frames); return m.ID }
		}
		failed := c.send(transport.Shell, wire.ExecuteRequest, `{"code":"fail"}`)
		inTransit := []func() string{send(), send()}
		if reply := c.reply(transport.Shell, failed); !strings.Contains(reply, `"status":"error"`) {
			t.Error(reply)
		}
		after := send()
		time.Sleep(100 * time.Millisecond)
		for _, arrive := range inTransit {
			if reply := c.reply(transport.Shell, arrive()); !strings.Contains(reply, `"status":"aborted"`) {
				t.Errorf("sent before the reply: %s", reply)
			}
		}
		if reply := c.reply(transport.Shell, after()); !strings.Contains(reply, `"status":"ok"`) {
			t.Errorf("sent after the reply: %s", reply)
		}
		c.end()
	})
}

// Of 1,000 cells that arrive after the reply to a failed one, after random times in transit, each one that was sent before the
// reply is aborted, except for those in the last moment, and each one that was sent after it runs.
func TestDatesAfterSlowTransit(t *testing.T) {
	const (
		transit    = 100 * time.Microsecond // of the fastest messages
		resolution = 50 * time.Microsecond  // between two messages
	)
	random := rand.New(rand.NewPCG(1, 2))
	upTo := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d))) }
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			c := newClient(t)
			c.failing(upTo(3 * time.Millisecond))
			type message struct {
				id     string
				sent   time.Time
				frames [][]byte
			}
			encode := func(code string) message {
				m := wire.Outgoing{Type: wire.ExecuteRequest, Content: json.RawMessage(`{"code":"` + code + `"}`), ID: c.codec.NewID(), Identities: [][]byte{[]byte("client")}}
				frames, err := c.codec.Encode(m)
				if err != nil {
					t.Fatal(err)
				}
				return message{m.ID, time.Now(), frames}
			}
			deliver := func(m message) { c.sockets.Deliver(transport.Shell, m.frames) }
			for range 2 {
				time.Sleep(resolution)
				m := encode("next")
				time.Sleep(transit)
				deliver(m)
				c.reply(transport.Shell, m.id)
			}
			time.Sleep(upTo(time.Second))
			for range 2 { // cells that the client sends one after the other
				m := encode("next")
				time.Sleep(resolution)
				next := encode("next")
				time.Sleep(transit)
				deliver(m)
				c.reply(transport.Shell, m.id)
				deliver(next)
				c.reply(transport.Shell, next.id)
			}
			failing := encode("fail")
			time.Sleep(transit + upTo(400*time.Millisecond))
			deliver(failing)
			var queued []message
			replied := make(chan time.Time, 1)
			go func() {
				c.reply(transport.Shell, failing.id)
				replied <- time.Now()
			}()
			for range 10 {
				time.Sleep(upTo(10 * time.Millisecond))
				queued = append(queued, encode("next"))
			}
			end := <-replied
			for _, m := range queued {
				time.Sleep(upTo(time.Millisecond))
				deliver(m)
				reply := c.reply(transport.Shell, m.id)
				aborted := strings.Contains(reply, `"status":"aborted"`)
				switch before := end.Sub(m.sent); {
				case before > transit+2*resolution && !aborted:
					t.Errorf("a cell that was sent %v before the reply runs", before)
				case before <= 0 && aborted:
					t.Errorf("a cell that was sent %v after the reply is aborted", -before)
				}
			}
			c.end()
		})
	}
}

// The clock of a client may have a low resolution, which the format of its dates does not show.
func TestCoarseClocks(t *testing.T) {
	t.Parallel()
	const resolution = 15625 * time.Microsecond
	random := rand.New(rand.NewPCG(3, 4))
	upTo := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d))) }
	start := time.Now()
	for range 1000 {
		var all clocks
		at := start
		send := func(transit time.Duration) *request {
			r := &request{Message: &wire.Message{Header: wire.Header{Session: "s", Date: at.Truncate(resolution).UTC().Format(time.RFC3339Nano)}}, received: at.Add(transit)}
			r.clock = all.observe(r.Header.Session, r.Header.Date, r.received)
			return r
		}
		for range 5 {
			send(upTo(time.Millisecond))
			at = at.Add(upTo(30 * time.Millisecond))
		}
		failed := send(upTo(time.Millisecond))
		abort := &abortPoint{failed, failed.received.Add(upTo(time.Millisecond))}
		at = abort.replied.Add(upTo(time.Millisecond))
		if r := send(upTo(time.Millisecond)); abort.aborts(r) {
			t.Fatalf("a cell that was sent %v after the reply is aborted", at.Sub(abort.replied))
		}
	}
}

// The reply to a failed cell is held back only while cells may still be on their way.
func TestHowLongAFailedCellWaits(t *testing.T) {
	for _, row := range []struct {
		name    string
		queues  bool          // a client has queued cells before
		runs    time.Duration // how long the failing cell runs
		content string
		want    time.Duration // until its reply
	}{
		{"fails at once", true, 0, `{"code":"fail"}`, settlePeriod},
		{"fails soon", true, time.Millisecond, `{"code":"fail"}`, settlePeriod},
		{"fails late", true, time.Second, `{"code":"fail"}`, time.Second},
		{"clients wait for replies", false, 0, `{"code":"fail"}`, 0},
		{"stops no others", true, 0, `{"code":"fail","stop_on_error":false}`, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newClient(t)
				c.failing(row.runs)
				if row.queues {
					c.queueCells()
				}
				sent := time.Now()
				c.reply(transport.Shell, c.send(transport.Shell, wire.ExecuteRequest, row.content))
				if took := time.Since(sent); took != row.want {
					t.Errorf("the reply came after %v, want %v", took, row.want)
				}
				c.end()
			})
		})
	}
}

// A client that never stops sending gets its reply all the same.
func TestEndlessCells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t)
		c.failing(0)
		c.queueCells()
		sent := time.Now()
		first := c.send(transport.Shell, wire.ExecuteRequest, `{"code":"fail"}`)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			for ctx.Err() == nil {
				c.send(transport.Shell, wire.ExecuteRequest, `{"code":"next"}`)
				time.Sleep(settlePeriod / 2)
			}
		}()
		c.reply(transport.Shell, first)
		if took := time.Since(sent); took != maxSettle {
			t.Errorf("the reply came after %v, want %v", took, maxSettle)
		}
		stop()
		<-done
		c.end()
	})
}

// A kernel that is shut down does not hold replies back.
func TestShutdownWhileCellsArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t)
		c.failing(0)
		c.queueCells()
		sent := time.Now()
		cell := c.send(transport.Shell, wire.ExecuteRequest, `{"code":"fail"}`)
		synctest.Wait() // the cell has failed and its reply is held back
		c.reply(transport.Control, c.send(transport.Control, wire.ShutdownRequest, `{"restart":false}`))
		if reply := c.reply(transport.Shell, cell); !strings.Contains(reply, `"status":"error"`) {
			t.Error(reply)
		}
		if took := time.Since(sent); took != 0 {
			t.Errorf("the reply was held back for %v", took)
		}
		c.end()
	})
}
