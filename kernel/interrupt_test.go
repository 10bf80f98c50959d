package kernel

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/wire"
)

// interruptedBy is a worker with a function that receives its interrupts.
type interruptedBy struct {
	*fakeWorker
	interrupt func()
}

func (w interruptedBy) Interrupt(context.Context) error {
	w.interrupt()
	return nil
}

// begun sends a cell and waits until the client can know that it runs.
func (c *client) begun(content string) (id string) {
	id = c.send(transport.Shell, wire.ExecuteRequest, content)
	for c.published().Header.Type != wire.ExecuteInput {
	}
	return id
}

// The worker receives an interrupt while the cell runs. What ends the cell comes after
// that; otherwise the worker would interrupt the next cell.
func TestInterruptReachesTheWorkerBeforeTheCellEnds(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	evaluation := make(chan context.Context, 1)
	c.worker.evaluate = func(ctx context.Context) (link.Evaluations, error) {
		evaluation <- ctx
		<-ctx.Done()
		return link.Evaluations{}, ctx.Err()
	}
	c.kernel.worker = interruptedBy{c.worker, func() {
		if ctx := <-evaluation; ctx.Err() != nil {
			t.Error("the cell has ended before the worker was interrupted")
		}
	}}
	cell := c.begun(`{"code":"x","user_expressions":{"a":"f()"}}`)
	c.reply(transport.Control, c.send(transport.Control, wire.InterruptRequest, `{}`))
	c.reply(transport.Shell, cell)
}

// An interrupt that takes long does not end the wait of the next cell for a line.
func TestInterruptSparesTheInputOfTheNextCell(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	interrupted, asked := make(chan struct{}), make(chan struct{})
	c.worker.execute = func(ctx context.Context, r link.Execute) (link.Result, error) {
		if r.Cell == 1 {
			<-interrupted
			return link.Result{}, nil
		}
		if reply, err := c.kernel.Input(ctx, link.InputRequest{}); err != nil || reply.Line != "line" {
			t.Errorf("the next cell read %q, %v", reply.Line, err)
		}
		return link.Result{}, nil
	}
	c.kernel.worker = interruptedBy{c.worker, func() {
		close(interrupted)
		<-asked
	}}
	first := c.begun(`{"code":"x","allow_stdin":true}`)
	interrupt := c.send(transport.Control, wire.InterruptRequest, `{}`)
	second := c.send(transport.Shell, wire.ExecuteRequest, `{"code":"y","allow_stdin":true}`)
	c.reply(transport.Shell, first)
	c.receive(transport.Stdin)
	close(asked)
	c.reply(transport.Control, interrupt)
	c.send(transport.Stdin, wire.InputReply, `{"value":"line"}`)
	c.reply(transport.Shell, second)
}

// A cell is interrupted although its worker has not received it yet.
func TestInterruptBeforeTheWorkerHasTheCell(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	interrupted := make(chan struct{})
	c.kernel.worker = interruptedBy{c.worker, func() { close(interrupted) }}
	c.worker.execute = func(_ context.Context, r link.Execute) (link.Result, error) {
		<-interrupted
		if !r.Interrupted.Load() {
			t.Error("the cell does not know of its interrupt")
		}
		return link.Result{}, nil
	}
	cell := c.begun(`{"code":"x"}`)
	c.reply(transport.Control, c.send(transport.Control, wire.InterruptRequest, `{}`))
	c.reply(transport.Shell, cell)
}

// A cell that the client sent before an interrupt is interrupted if it arrives after it, as a large cell does, and one that it
// sends later is not.
func TestInterruptOvertakesTheCell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t)
		interrupted := make(chan bool, 1)
		c.worker.execute = func(_ context.Context, r link.Execute) (link.Result, error) {
			interrupted <- r.Interrupted.Load()
			return link.Result{}, nil
		}
		encode := func(kind wire.Type) (id string, frames [][]byte) {
			time.Sleep(time.Millisecond)
			m := wire.Outgoing{Type: kind, Content: json.RawMessage(`{"code":"x"}`), ID: c.codec.NewID(), Identities: [][]byte{[]byte("client")}}
			frames, err := c.codec.Encode(m)
			if err != nil {
				t.Fatal(err)
			}
			return m.ID, frames
		}
		id, cell := encode(wire.ExecuteRequest)
		second, queued := encode(wire.ExecuteRequest)
		interrupt, frames := encode(wire.InterruptRequest)
		c.sockets.Deliver(transport.Control, frames)
		c.reply(transport.Control, interrupt)
		time.Sleep(10 * time.Millisecond)
		c.sockets.Deliver(transport.Shell, cell)
		c.reply(transport.Shell, id)
		if !<-interrupted {
			t.Error("the cell that was sent before the interrupt was not interrupted")
		}
		c.sockets.Deliver(transport.Shell, queued)
		c.reply(transport.Shell, second)
		if <-interrupted {
			t.Error("one interrupt interrupted two cells")
		}
		interrupt, frames = encode(wire.InterruptRequest)
		c.sockets.Deliver(transport.Control, frames)
		c.reply(transport.Control, interrupt)
		id, cell = encode(wire.ExecuteRequest)
		c.sockets.Deliver(transport.Shell, cell)
		c.reply(transport.Shell, id)
		if <-interrupted {
			t.Error("the cell that was sent after the interrupt was interrupted")
		}
		c.end()
	})
}

func TestIsInterrupted(t *testing.T) {
	t.Parallel()
	start := time.Now().Truncate(time.Second)
	ms := func(n int) time.Time { return start.Add(time.Duration(n) * time.Millisecond) }
	message := func(session string, sent, received int) *request {
		return &request{Message: &wire.Message{Header: wire.Header{Session: session, Date: ms(sent).UTC().Format("2006-01-02T15:04:05.000000Z07:00")}}, received: ms(received)}
	}
	for _, row := range []struct {
		name            string
		cell, interrupt *request
		want            bool
	}{
		{"no interrupt", message("s", 0, 1), nil, false},
		{"the cell has arrived before", message("s", 0, 1), message("s", 1, 2), true},
		{"from another client", message("s", 0, 1), message("t", -500, 2), true},
		{"the cell was sent before", message("s", 0, 3), message("s", 1, 2), true},
		{"the clock of the client is slow", message("s", -5000, 3), message("s", -4999, 2), true},
		{"another client may have another clock", message("s", 0, 3), message("t", 1, 2), false},
		{"the cell was sent after", message("s", 3, 4), message("s", 1, 2), false},
		{"at the same time", message("s", 1, 4), message("s", 1, 2), false},
		{"long after", message("s", 0, 2000), message("s", 1, 2), false},
	} {
		k := &Kernel{}
		k.interruption.Store(row.interrupt)
		if got := k.isInterrupted(row.cell); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
		if k.isInterrupted(row.cell) {
			t.Errorf("%s: a second cell is interrupted", row.name)
		}
	}
}
