package link

import (
	"context"
	"sync"
)

// numbered is an Execute with its number among those of the connection.
type numbered struct {
	Execute
	Number uint64 `json:"number"`
}

// HandlerInterrupter is a Worker that can end the handlers of comms, which run
// beside cells and between them.
type HandlerInterrupter interface {
	InterruptHandlers()
}

// cells ties each interrupt to the Execute that it is meant for. Requests run on
// goroutines of their own, so an interrupt may overtake its Execute, or come
// when that has just ended; it must stop the one and spare what follows the
// other.
type cells struct {
	worker Worker

	mu          sync.Mutex
	last        uint64             // number of the last Execute that began
	cancel      context.CancelFunc // of the one that runs; nil between cells
	interrupted uint64             // number of the last Execute to interrupt
}

func (c *cells) execute(ctx context.Context, request numbered) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.mu.Lock()
	c.last, c.cancel = request.Number, cancel
	early := c.interrupted == request.Number
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.last == request.Number { // else the front has gone on without it
			c.cancel = nil
		}
	}()
	if early {
		return Result{Error: &CellError{Name: "interrupted", Value: "before the cell began", Traceback: []string{"interrupted before the cell began"}}}, nil
	}
	return c.worker.Execute(ctx, request.Execute)
}

func (c *cells) interrupt(ctx context.Context, number uint64) (none, error) {
	c.mu.Lock()
	c.interrupted = number
	runs := c.cancel != nil && c.last == number
	if runs {
		c.cancel()
	}
	c.mu.Unlock()
	if h, ok := c.worker.(HandlerInterrupter); ok {
		h.InterruptHandlers()
	}
	if !runs {
		return none{}, nil
	}
	return none{}, c.worker.Interrupt(ctx)
}
