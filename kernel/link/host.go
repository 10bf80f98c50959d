package link

import (
	"context"
	"encoding/json"
	"fmt"
)

// Notebook is what a running cell can do with its notebook. The kernel process implements
// it.
type Notebook interface {
	// Display shows, replaces or clears output.
	Display(display Display) error
	// Comm sends a comm message to the front end.
	Comm(comm Comm) error
	// Input asks the user for a line. The reply has EOF set if the front end cannot ask;
	// the error is that of ctx if the cell was interrupted meanwhile.
	Input(ctx context.Context, request InputRequest) (InputReply, error)
}

// The methods that the worker calls. Ready, display and comm are events.
const (
	methodReady   = "ready"
	methodDisplay = "display"
	methodComm    = "comm" // in both directions; from the kernel process it is a request
	methodInput   = "input"
	methodRanks   = "ranks"
	methodOnce    = "once"
)

// ServeHost handles the worker's events and requests with h until c ends, as Serve does.
// It calls ready once, when the worker is ready for requests.
func ServeHost(ctx context.Context, c *Conn, h Host, ready func()) error {
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

type remoteHost struct{ conn *Conn }

// NewHost returns the Host at the other end of c. ServeWorker must be running on c.
func NewHost(c *Conn) Host { return remoteHost{c} }

func (f remoteHost) Display(display Display) error {
	return f.conn.Notify(methodDisplay, display)
}

func (f remoteHost) Comm(comm Comm) error {
	return f.conn.Notify(methodComm, comm)
}

func (f remoteHost) Input(ctx context.Context, request InputRequest) (InputReply, error) {
	return call[InputReply](ctx, f.conn, methodInput, request)
}

func (f remoteHost) Ranks(ctx context.Context, request RanksRequest) (RanksReply, error) {
	return call[RanksReply](ctx, f.conn, methodRanks, request)
}

func (f remoteHost) Once(ctx context.Context, request OnceRequest) (OnceReply, error) {
	return call[OnceReply](ctx, f.conn, methodOnce, request)
}
