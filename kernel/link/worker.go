package link

import (
	"context"
	"encoding/json"
	"sync/atomic"
)

// Worker runs cells. The worker process implements it; the kernel process uses it through
// a Client. One Execute runs at a time; the other methods may be called at any time, also
// while it runs.
//
// A cell that fails returns a Result with an Error. An error from a method means that the
// worker could not answer at all.
type Worker interface {
	// Execute runs one cell to its end. When ctx ends, the cell is interrupted.
	Execute(ctx context.Context, request Execute) (Result, error)
	// Ask answers one of the other requests; use the function Ask, which has types. The
	// reply is a pointer.
	Ask(ctx context.Context, request Request) (reply any, err error)
	// Interrupt stops the running cell and keeps the variables. It returns at once; if no
	// cell is running it does nothing.
	Interrupt(ctx context.Context) error
	// Shutdown releases the worker's resources. The process ends after it.
	Shutdown(ctx context.Context) error
}

// The methods of Worker on the wire. Other requests have the names of their types.
const (
	methodExecute   = "execute"
	methodInterrupt = "interrupt"
	methodShutdown  = "shutdown"
)

type none struct{}

// ServeWorker handles the requests of the kernel process with w until c ends, as Serve
// does. First it notifies the kernel process that the worker is ready. An interrupt also
// cancels the context of the Execute that it is meant for.
func ServeWorker(ctx context.Context, c *Conn, w Worker) error {
	if err := c.Notify(methodReady, none{}); err != nil {
		return err
	}
	executions := &executions{worker: w}
	return Serve(ctx, c, HandlerFunc(func(ctx context.Context, method string, body json.RawMessage) (any, error) {
		switch method {
		case methodExecute:
			return answer(ctx, body, executions.execute)
		case methodInterrupt:
			return answer(ctx, body, executions.interrupt)
		case methodShutdown:
			return none{}, w.Shutdown(ctx)
		}
		request, err := decodeRequest(method, body)
		if err != nil {
			return nil, err
		}
		return w.Ask(ctx, request)
	}))
}

// answer decodes the body of a request and calls a method with it.
func answer[In, Out any](ctx context.Context, body json.RawMessage, method func(context.Context, In) (Out, error)) (any, error) {
	var in In
	if err := decode(body, &in); err != nil {
		return nil, err
	}
	return method(ctx, in)
}

// Client asks the Worker at the other end of a connection. Serve must be running on the
// connection. Cells have numbers, so that an interrupt stops only the one it is meant for.
type Client struct {
	conn  *Conn
	cells atomic.Uint64 // the last number
}

// NewClient returns the worker at the other end of c.
func NewClient(c *Conn) *Client { return &Client{conn: c} }

// call sends one request and decodes the response.
func call[Out any](ctx context.Context, c *Conn, method string, in any) (out Out, err error) {
	err = c.Call(ctx, method, in, &out)
	return out, err
}

// Number returns a number for the next Execute, with which it can be interrupted.
func (c *Client) Number() uint64 { return c.cells.Add(1) }

// Execute runs one cell unless it has been interrupted already.
func (c *Client) Execute(ctx context.Context, request Execute, number uint64) (Result, error) {
	if request.Interrupted != nil && request.Interrupted.Load() {
		return notBegun(), nil
	}
	return call[Result](ctx, c.conn, methodExecute, executeMessage{request, number})
}

// Ask sends one request and returns a pointer to its reply.
func (c *Client) Ask(ctx context.Context, request Request) (any, error) {
	reply := request.newReply()
	err := c.conn.Call(ctx, nameOf(request), request, reply)
	return reply, err
}

// Interrupt stops the cell with a number, if it is running or about to run.
func (c *Client) Interrupt(ctx context.Context, number uint64) error {
	return c.conn.Call(ctx, methodInterrupt, number, nil)
}

// Shutdown asks the worker to release its resources.
func (c *Client) Shutdown(ctx context.Context) error {
	return c.conn.Call(ctx, methodShutdown, none{}, nil)
}
