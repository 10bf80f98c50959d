package link

import (
	"context"
	"encoding/json"
	"fmt"
)

// Notebook is what a running cell may ask for. The worker reaches it through
// NewNotebook.
type Notebook interface {
	// Display shows, replaces or clears output.
	Display(display Display) error
	// Input asks the user for a line. It returns EOF set when the front end
	// cannot ask, and ctx's error when the cell was interrupted meanwhile.
	Input(ctx context.Context, request InputRequest) (InputReply, error)
}

// Front is what the front process serves: the notebook, and the life of the
// worker.
type Front interface {
	Notebook
	// Ready tells that the worker serves. It comes once, first of all.
	Ready()
}

// The methods of Front on the wire. Ready and Display are events.
const (
	methodReady   = "ready"
	methodDisplay = "display"
	methodInput   = "input"
)

// ServeFront answers the worker's events and requests with f until c ends, as
// Serve does.
func ServeFront(ctx context.Context, c *Conn, f Front) error {
	return Serve(ctx, c, HandlerFunc(func(ctx context.Context, method string, body json.RawMessage) (any, error) {
		switch method {
		case methodReady:
			f.Ready()
			return none{}, nil
		case methodDisplay:
			var display Display
			if err := decode(body, &display); err != nil {
				return nil, err
			}
			return none{}, f.Display(display)
		case methodInput:
			return answer(ctx, body, f.Input)
		}
		return nil, fmt.Errorf("unknown method %q", method)
	}))
}

type remoteNotebook struct{ conn *Conn }

// NewNotebook returns the notebook at the other end of c. ServeWorker must run on
// c for Input to be answered.
func NewNotebook(c *Conn) Notebook { return remoteNotebook{c} }

func (n remoteNotebook) Display(display Display) error {
	return n.conn.Notify(methodDisplay, display)
}

func (n remoteNotebook) Input(ctx context.Context, request InputRequest) (InputReply, error) {
	return call[InputReply](ctx, n.conn, methodInput, request)
}
