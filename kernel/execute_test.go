package kernel

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/wire"
)

func TestAborts(t *testing.T) {
	t.Parallel()
	start := time.Now()
	s := &abortPoint{request: &request{Message: &wire.Message{}}, replied: start}
	for _, row := range []struct {
		name     string
		received time.Duration // after the reply went out
		want     bool
	}{
		{"queued", -3 * time.Millisecond, true},
		{"just before the reply", -1, true},
		{"just after it", 1, false},
		{"long after", time.Second, false},
	} {
		if got := s.aborts(&request{Message: &wire.Message{}, received: start.Add(row.received)}); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
	var none *abortPoint
	if none.aborts(&request{}) {
		t.Error("a cell is stopped by none")
	}
}

// A cell that a client sends after it has read the reply to a failed cell runs, however
// fast the client is and whatever its clock shows.
func TestClocksOfClients(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{0, -time.Millisecond, -900 * time.Millisecond, -time.Hour, 900 * time.Millisecond, time.Hour} {
		k := &Kernel{}
		// The failed cell and its reply, then a cell that comes in at once.
		replied := time.Now()
		k.abort = &abortPoint{
			request: &request{Message: &wire.Message{Header: wire.Header{Type: wire.ExecuteRequest, Date: replied.Add(off - time.Millisecond - 50*time.Microsecond).Format(time.RFC3339Nano)}}, received: replied.Add(-time.Millisecond)},
			replied: replied,
		}
		next := &request{
			Message: &wire.Message{Header: wire.Header{Type: wire.ExecuteRequest, Date: replied.Add(off).Format(time.RFC3339Nano)}},
			channel: transport.Shell, received: replied.Add(time.Microsecond),
		}
		if k.abort.aborts(next) {
			t.Errorf("with a clock that is off by %v the next cell is stopped", off)
		}
	}
}

// A cell that arrives after the reply to a failed one is aborted if the dates prove that it was sent before
// the reply, whatever the clock of the client shows. The failed cell arrived at 2 ms, its reply was sent at
// 5 ms.
func TestDatesOfCells(t *testing.T) {
	t.Parallel()
	const (
		micros = "2006-01-02T15:04:05.000000Z07:00"
		millis = "2006-01-02T15:04:05.000Z07:00"
	)
	ms := func(x float64) time.Duration { return time.Duration(x * float64(time.Millisecond)) }
	start := time.Now().Truncate(time.Second)
	for _, row := range []struct {
		name        string
		session     string
		format      string
		first, sent float64 // when the cells were sent, in ms
		received    float64
		want        bool
	}{
		{"sent with the failed one", "s", micros, 1, 1.2, 6, true},
		{"sent when the failed one arrived", "s", micros, 1, 2, 500, true},
		{"sent before the reply, by how long the failed one took", "s", micros, 1, 3.9, 6, true},
		{"perhaps sent after the reply", "s", micros, 1, 4.1, 6, false},
		{"sent after the reply", "s", micros, 1, 5.1, 6, false},
		{"the failed one was in transit for long", "s", micros, -400, -399, 6, true},
		{"sent after the reply to one that was in transit for long", "s", micros, -400, 5.1, 6, false},
		{"milliseconds", "s", millis, 1, 2.9, 6, true},
		{"milliseconds, perhaps sent after the reply", "s", millis, 1.9, 4.95, 6, false},
		{"seconds", "s", time.RFC3339, 1, 1.2, 6, false},
		{"another client", "t", micros, 1, 1.2, 6, false},
		{"the clock was set back", "s", micros, 1, -100, 6, false},
		{"always the same date", "s", micros, 1, 1, 6, false},
		{"long ago", "s", micros, 1, 1.2, 1006, false},
		{"no date", "s", "", 1, 1.2, 6, false},
	} {
		for _, off := range []time.Duration{0, time.Hour, -time.Hour, ms(2), -ms(2)} {
			message := func(session string, sent float64) *wire.Message {
				return &wire.Message{Header: wire.Header{Session: session, Date: start.Add(off + ms(sent)).UTC().Format(row.format)}}
			}
			k := &Kernel{}
			k.abort = &abortPoint{&request{Message: message("s", row.first), received: start.Add(ms(2))}, start.Add(ms(5))}
			if got := k.abort.aborts(&request{Message: message(row.session, row.sent), received: start.Add(ms(row.received))}); got != row.want {
				t.Errorf("%s, with a clock that is off by %v: %t", row.name, off, got)
			}
		}
	}
}

// The cell after a worker has ended between cells fails, and does not run without the variables. Silent cells are not
// those of the user: they run, and leave the failure to the next one.
func TestWorkerEndedBetweenCells(t *testing.T) {
	t.Parallel()
	why := &link.CellError{Name: "worker died", Value: "killed", Traceback: []string{"killed"}}
	for _, row := range []struct {
		name   string
		during bool // the end is noticed when the cell has been sent to the worker
		err    error
	}{
		{name: "before"}, {name: "during the request", during: true}, {name: "during the request, which fails too", during: true, err: why},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t)
			var ran []string
			c.worker.execute = func(_ context.Context, r link.Execute) (link.Result, error) {
				ran = append(ran, r.Code)
				if row.during && r.Code == "first" {
					c.kernel.WorkerEnded(why)
					return link.Result{}, row.err
				}
				return link.Result{}, nil
			}
			if !row.during {
				c.kernel.WorkerEnded(why)
				c.kernel.WorkerEnded(nil) // of a cell that has failed with it
			}
			for _, cell := range []struct{ content, want string }{
				{`{"code":"silent","silent":true}`, `"status":"ok"`},
				{`{"code":"first"}`, `"status":"error","execution_count":1,"ename":"worker died","evalue":"killed","traceback":["killed"`},
				{`{"code":"second"}`, `"status":"ok"`},
			} {
				if _, reply := c.request(transport.Shell, wire.ExecuteRequest, cell.content); !strings.Contains(reply, cell.want) {
					t.Errorf("%s: got %s, want %s", cell.content, reply, cell.want)
				}
			}
			want := []string{"silent", "first", "second"}
			if !row.during {
				want = []string{"silent", "second"}
			}
			if !slices.Equal(ran, want) {
				t.Errorf("%q has run, want %q", ran, want)
			}
		})
	}
}

// TestCellIDs passes what front ends send about the cells on to the worker.
func TestCellIDs(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	var got link.Execute
	c.worker.execute = func(_ context.Context, r link.Execute) (link.Result, error) {
		got = r
		return link.Result{}, nil
	}
	id := c.sendMessage(transport.Shell, wire.Outgoing{
		Type: wire.ExecuteRequest, Content: json.RawMessage(`{"code": "x"}`), Metadata: map[string]any{"cellId": "a", "deletedCells": []string{"b"}},
	})
	c.untilIdle(id)
	c.reply(transport.Shell, id)
	if got.ID != "a" || !slices.Equal(got.Deleted, []string{"b"}) {
		t.Errorf("got the id %q and the deleted cells %q", got.ID, got.Deleted)
	}
}
