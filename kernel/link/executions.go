package link

import (
	"context"
	"sync"
)

// executeMessage is an Execute with its sequence number on this connection.
type executeMessage struct {
	Execute
	Number uint64 `json:"number"`
}

// NotBegun is the value of the error of a cell that was interrupted before it began.
const NotBegun = "before the cell began"

// notBegun is the result of a cell that was interrupted before it began.
func notBegun() Result {
	return Result{Error: &CellError{Name: "interrupted", Value: NotBegun, Traceback: []string{"interrupted " + NotBegun}}}
}

// HandlerInterrupter is a Worker that can interrupt comm handlers, which run beside cells
// and between them.
type HandlerInterrupter interface {
	InterruptHandlers()
}

// executions matches each interrupt with the Execute that it is meant for. Requests run
// on goroutines of their own, so an interrupt may overtake its Execute, or arrive when
// that has just ended. It must stop the cell it is meant for, and never the next one.
type executions struct {
	worker Worker

	mu          sync.Mutex
	last        uint64             // number of the Execute that began last
	cancel      context.CancelFunc // cancels the running Execute; nil between cells
	interrupted uint64             // number of the last Execute for which an interrupt has come
}

func (c *executions) execute(ctx context.Context, request executeMessage) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.mu.Lock()
	c.last, c.cancel = request.Number, cancel
	early := c.interrupted == request.Number
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.last == request.Number { // otherwise the next Execute has begun
			c.cancel = nil
		}
	}()
	if early {
		return notBegun(), nil
	}
	return c.worker.Execute(ctx, request.Execute)
}

func (c *executions) interrupt(ctx context.Context, number uint64) (none, error) {
	if h, ok := c.worker.(HandlerInterrupter); ok {
		h.InterruptHandlers()
	}
	// Worker.Interrupt stops whichever cell runs. The lock keeps the next one from beginning
	// if this one ends as soon as its context is canceled.
	c.mu.Lock()
	defer c.mu.Unlock()
	c.interrupted = number
	if c.cancel == nil || c.last != number {
		return none{}, nil
	}
	c.cancel()
	return none{}, c.worker.Interrupt(ctx)
}
