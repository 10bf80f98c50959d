package kernel

import (
	"context"
	"testing"

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
