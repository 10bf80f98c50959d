package link

import (
	"context"
	"encoding/json"
	"fmt"
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
	Complete(ctx context.Context, request Complete) (Completion, error)
	Inspect(ctx context.Context, request Inspect) (Inspection, error)
	Check(ctx context.Context, request Check) (Completeness, error)
	// Evaluate computes user expressions between two cells.
	Evaluate(ctx context.Context, request Evaluate) (Evaluations, error)
	// Comm passes a message of the front end to the object that it is for, and returns
	// when the object has handled it.
	Comm(ctx context.Context, comm Comm) (CommReply, error)
	// Interrupt stops the running cell and keeps the variables. It returns at once; if no
	// cell is running it does nothing.
	Interrupt(ctx context.Context) error
	// Shutdown releases the worker's resources. The process ends after it.
	Shutdown(ctx context.Context) error
}

// The methods of Worker on the wire.
const (
	methodExecute   = "execute"
	methodComplete  = "complete"
	methodInspect   = "inspect"
	methodCheck     = "check"
	methodEvaluate  = "evaluate"
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
		case methodComplete:
			return answer(ctx, body, w.Complete)
		case methodInspect:
			return answer(ctx, body, w.Inspect)
		case methodCheck:
			return answer(ctx, body, w.Check)
		case methodEvaluate:
			return answer(ctx, body, w.Evaluate)
		case methodComm:
			return answer(ctx, body, w.Comm)
		case methodInterrupt:
			return answer(ctx, body, executions.interrupt)
		case methodShutdown:
			return none{}, w.Shutdown(ctx)
		}
		return nil, fmt.Errorf("unknown method %q", method)
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

// Client is the Worker at the other end of a connection. Serve must be running on the
// connection.
type Client struct {
	conn  *Conn
	cells atomic.Uint64 // number of Executes so far
}

var _ Worker = (*Client)(nil)

// NewClient returns the worker at the other end of c.
func NewClient(c *Conn) *Client { return &Client{conn: c} }

// call sends one request and decodes the response.
func call[Out any](ctx context.Context, c *Conn, method string, in any) (out Out, err error) {
	err = c.Call(ctx, method, in, &out)
	return out, err
}

// Execute runs one cell.
func (c *Client) Execute(ctx context.Context, request Execute) (Result, error) {
	return call[Result](ctx, c.conn, methodExecute, executeMessage{request, c.cells.Add(1)})
}

// Complete asks for completions.
func (c *Client) Complete(ctx context.Context, request Complete) (Completion, error) {
	return call[Completion](ctx, c.conn, methodComplete, request)
}

// Inspect asks for documentation.
func (c *Client) Inspect(ctx context.Context, request Inspect) (Inspection, error) {
	return call[Inspection](ctx, c.conn, methodInspect, request)
}

// Check asks whether a cell is complete.
func (c *Client) Check(ctx context.Context, request Check) (Completeness, error) {
	return call[Completeness](ctx, c.conn, methodCheck, request)
}

// Evaluate computes user expressions.
func (c *Client) Evaluate(ctx context.Context, request Evaluate) (Evaluations, error) {
	return call[Evaluations](ctx, c.conn, methodEvaluate, request)
}

// Comm passes on a message of the front end.
func (c *Client) Comm(ctx context.Context, comm Comm) (CommReply, error) {
	return call[CommReply](ctx, c.conn, methodComm, comm)
}

// Interrupt stops the cell of the last Execute.
func (c *Client) Interrupt(ctx context.Context) error {
	return c.conn.Call(ctx, methodInterrupt, c.cells.Load(), nil)
}

// Shutdown asks the worker to release its resources.
func (c *Client) Shutdown(ctx context.Context) error {
	return c.conn.Call(ctx, methodShutdown, none{}, nil)
}
