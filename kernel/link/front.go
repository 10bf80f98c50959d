package link

import (
	"context"
	"encoding/json"
	"fmt"
)

// Front is what a running cell may ask of the notebook. The front process
// implements it; the worker holds one at a distance, from NewFront.
type Front interface {
	// Display shows, replaces or clears output.
	Display(display Display) error
	// Comm takes a message to an object of the front end.
	Comm(comm Comm) error
	// Input asks the user for a line. It returns EOF set when the front end
	// cannot ask, and ctx's error when the cell was interrupted meanwhile.
	Input(ctx context.Context, request InputRequest) (InputReply, error)
}

// What the worker sends. Ready, display and comm are events.
const (
	methodReady   = "ready"
	methodDisplay = "display"
	methodComm    = "comm" // in both directions; from the front a request
	methodInput   = "input"
	methodRanks   = "ranks"
	methodOnce    = "once"
)

// ServeFront answers the worker's events and requests with h until c ends, as
// Serve does. It calls ready once, when the worker begins to serve.
func ServeFront(ctx context.Context, c *Conn, h Host, ready func()) error {
	return Serve(ctx, c, HandlerFunc(func(ctx context.Context, method string, body json.RawMessage) (any, error) {
		switch method {
		case methodReady:
			ready()
			return none{}, nil
		case methodDisplay:
			var display Display
			if err := decode(body, &display); err != nil {
				return nil, err
			}
			return none{}, h.Display(display)
		case methodComm:
			var comm Comm
			if err := decode(body, &comm); err != nil {
				return nil, err
			}
			return none{}, h.Comm(comm)
		case methodInput:
			return answer(ctx, body, h.Input)
		case methodRanks:
			return answer(ctx, body, h.Ranks)
		case methodOnce:
			return answer(ctx, body, h.Once)
		}
		return nil, fmt.Errorf("unknown method %q", method)
	}))
}

type remoteFront struct{ conn *Conn }

// NewFront returns the notebook at the other end of c. ServeWorker must run on
// c for its requests to be answered.
func NewFront(c *Conn) Host { return remoteFront{c} }

func (f remoteFront) Display(display Display) error {
	return f.conn.Notify(methodDisplay, display)
}

func (f remoteFront) Comm(comm Comm) error {
	return f.conn.Notify(methodComm, comm)
}

func (f remoteFront) Input(ctx context.Context, request InputRequest) (InputReply, error) {
	return call[InputReply](ctx, f.conn, methodInput, request)
}

func (f remoteFront) Ranks(ctx context.Context, request RanksRequest) (RanksReply, error) {
	return call[RanksReply](ctx, f.conn, methodRanks, request)
}

func (f remoteFront) Once(ctx context.Context, request OnceRequest) (OnceReply, error) {
	return call[OnceReply](ctx, f.conn, methodOnce, request)
}
