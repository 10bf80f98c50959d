package link

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// ErrClosed is returned for a call or an event on a connection that has ended.
var ErrClosed = errors.New("link: connection closed")

// RemoteError is the failure of a handler on the other side.
type RemoteError struct {
	Method  string
	Message string
}

func (e *RemoteError) Error() string { return "link: " + e.Method + ": " + e.Message }

// Handler answers what the other side sends. For a request, the result goes
// back as JSON, or err as a RemoteError; ctx ends when the caller no longer
// waits or the connection ends. For an event the result is dropped, and Handle
// must return soon: nothing else is read meanwhile. An error from an event is
// dropped too, so a handler that cares logs it.
type Handler interface {
	Handle(ctx context.Context, method string, body json.RawMessage) (result any, err error)
}

// HandlerFunc is a function used as a Handler.
type HandlerFunc func(ctx context.Context, method string, body json.RawMessage) (any, error)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, method string, body json.RawMessage) (any, error) {
	return f(ctx, method, body)
}

// Conn carries requests, responses and events over one stream. Its methods may
// be called from any goroutine. Calls are answered only while Serve runs.
type Conn struct {
	stream io.ReadWriteCloser

	writeMu sync.Mutex // also orders the frames

	mu      sync.Mutex
	next    uint64
	pending map[uint64]chan<- frame       // calls of ours that wait; nil when closed
	running map[uint64]context.CancelFunc // requests of theirs that run
	cause   error                         // why the connection ended

	done      chan struct{} // closed when the connection has ended
	closeOnce sync.Once
}

// NewConn returns a connection over stream, which it owns from then on.
func NewConn(stream io.ReadWriteCloser) *Conn {
	return &Conn{
		stream:  stream,
		pending: map[uint64]chan<- frame{},
		running: map[uint64]context.CancelFunc{},
		done:    make(chan struct{}),
	}
}

// Done is closed when the connection has ended, for whatever reason.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Close ends the connection: calls that wait fail with ErrClosed and Serve
// returns. Calling it twice is fine.
func (c *Conn) Close() error {
	c.end(ErrClosed)
	return nil
}

// end ends the connection once; later causes are ignored. What goes wrong in
// closing the stream tells nothing that a connection at its end has use for.
func (c *Conn) end(cause error) {
	c.closeOnce.Do(func() {
		c.mu.Lock()
		pending, running := c.pending, c.running
		c.pending, c.running, c.cause = nil, nil, cause
		c.mu.Unlock()
		close(c.done)
		for _, waiting := range pending {
			close(waiting)
		}
		for _, cancel := range running {
			cancel()
		}
		_ = c.stream.Close()
	})
}

// closedError says that the connection ended, and why if it was not by Close.
func (c *Conn) closedError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil || errors.Is(c.cause, ErrClosed) || errors.Is(c.cause, io.EOF) {
		return ErrClosed
	}
	return fmt.Errorf("%w: %w", ErrClosed, c.cause)
}

// Call sends a request and waits for its response, which it decodes into out;
// out may be nil. When ctx ends first, Call returns its error at once and the
// other side's handler is told.
func (c *Conn) Call(ctx context.Context, method string, in, out any) error {
	body, err := encode(method, in)
	if err != nil {
		return err
	}
	response := make(chan frame, 1)
	c.mu.Lock()
	if c.pending == nil {
		c.mu.Unlock()
		return c.closedError()
	}
	c.next++
	id := c.next
	c.pending[id] = response
	c.mu.Unlock()
	if err := c.send(frame{kind: kindRequest, id: id, method: method, body: body}); err != nil {
		c.forget(id)
		return err
	}
	select {
	case f, ok := <-response:
		if !ok {
			return c.closedError()
		}
		return decodeResponse(f, method, out)
	case <-ctx.Done():
		c.forget(id)
		// The other side may be gone; its handler then needs no cancel.
		_ = c.send(frame{kind: kindCancel, id: id})
		return ctx.Err()
	}
}

func decodeResponse(f frame, method string, out any) error {
	if f.kind == kindFailure {
		return &RemoteError{Method: method, Message: string(f.body)}
	}
	if out == nil {
		return nil
	}
	if err := decode(f.body, out); err != nil {
		return fmt.Errorf("link: decode result of %s: %w", method, err)
	}
	return nil
}

// decode is json.Unmarshal but for numbers behind an any, which stay as they
// were written: a MIME bundle passes through the front unread.
func decode(body []byte, out any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return d.Decode(out)
}

// Notify sends an event. It returns when the event is on its way.
func (c *Conn) Notify(method string, in any) error {
	body, err := encode(method, in)
	if err != nil {
		return err
	}
	return c.send(frame{kind: kindEvent, method: method, body: body})
}

func (c *Conn) forget(id uint64) {
	c.mu.Lock()
	delete(c.pending, id)
	c.mu.Unlock()
}

// send writes one frame. A write that fails ends the connection, since the
// stream may hold half a frame.
func (c *Conn) send(f frame) error {
	b, err := appendFrame(make([]byte, 0, lengthBytes+headerBytes+len(f.method)+len(f.body)), f)
	if err != nil {
		return err
	}
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	select {
	case <-c.done:
		return c.closedError()
	default:
	}
	if _, err := c.stream.Write(b); err != nil {
		c.end(err)
		return c.closedError()
	}
	return nil
}

// Serve reads from c until it ends or ctx does, and hands requests and events
// to handler. It returns when every handler it started has returned: nil if the
// other side closed the stream between two frames or c was closed here, else
// the reason.
func Serve(ctx context.Context, c *Conn, handler Handler) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { c.end(ctx.Err()) })
	defer stop()

	r := &reader{conn: c, frames: bufio.NewReaderSize(c.stream, 64<<10), handler: handler}
	r.running.Go(func() { r.read(ctx) })
	r.running.Wait()

	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(c.cause, io.EOF) || errors.Is(c.cause, ErrClosed) {
		return nil
	}
	return c.cause
}

// reader reads a connection. One goroutine reads at a time.
type reader struct {
	conn    *Conn
	frames  *bufio.Reader
	handler Handler
	running sync.WaitGroup // what reads and what answers
}

// read reads until a request comes, or the connection ends. A request is
// answered by the goroutine that has read it, and another reads on: to hand the
// request over to one that waits would cost it that one's waking up.
func (r *reader) read(ctx context.Context) {
	c := r.conn
	for {
		f, err := readFrame(r.frames)
		if err != nil {
			c.end(err)
			return
		}
		switch f.kind {
		case kindEvent:
			// The event has no answer to carry an error.
			_, _ = handle(ctx, r.handler, f)
		case kindRequest:
			request, ok := c.begin(ctx, f.id)
			if !ok {
				return
			}
			r.running.Go(func() { r.read(ctx) })
			c.respond(f, func() (any, error) { return handle(request, r.handler, f) })
			return
		case kindCancel:
			c.mu.Lock()
			if cancel := c.running[f.id]; cancel != nil {
				cancel()
			}
			c.mu.Unlock()
		case kindResponse, kindFailure:
			c.mu.Lock()
			waiting := c.pending[f.id]
			delete(c.pending, f.id)
			c.mu.Unlock()
			if waiting != nil { // nil: the caller gave up
				waiting <- f
			}
		}
	}
}

// begin makes the context of a request of the other side. It reports false when
// the connection has ended.
func (c *Conn) begin(ctx context.Context, id uint64) (context.Context, bool) {
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil {
		cancel()
		return nil, false
	}
	c.running[id] = cancel
	return ctx, true
}

// respond runs a request and sends its one response.
func (c *Conn) respond(request frame, run func() (any, error)) {
	result, err := run()
	c.mu.Lock()
	if cancel := c.running[request.id]; cancel != nil {
		cancel()
		delete(c.running, request.id)
	}
	c.mu.Unlock()

	f := frame{kind: kindResponse, id: request.id}
	if err == nil {
		f.body, err = encode(request.method, result)
	}
	if err == nil {
		err = c.send(f)
	}
	if err != nil && !errors.Is(err, ErrClosed) {
		// A connection that is gone needs no answer.
		_ = c.send(frame{kind: kindFailure, id: request.id, body: []byte(err.Error())})
	}
}

// handle calls the handler and turns its panic into an error.
func handle(ctx context.Context, handler Handler, f frame) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, fmt.Errorf("panic in handler: %v", p)
		}
	}()
	return handler.Handle(ctx, f.method, f.body)
}
