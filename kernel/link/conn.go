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

// RemoteError reports that a handler on the other side failed.
type RemoteError struct {
	Method  string
	Message string
}

func (e *RemoteError) Error() string { return "link: " + e.Method + ": " + e.Message }

// Handler handles what the other side sends. For a request, the result is sent back as
// JSON, or err as a RemoteError; ctx is canceled when the caller no longer waits or the
// connection ends. For an event, the result and the error are dropped, so a handler
// should log errors; Handle must return soon, because nothing else is read meanwhile.
type Handler interface {
	Handle(ctx context.Context, method string, body json.RawMessage) (result any, err error)
}

// HandlerFunc is a function that implements Handler.
type HandlerFunc func(ctx context.Context, method string, body json.RawMessage) (any, error)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, method string, body json.RawMessage) (any, error) {
	return f(ctx, method, body)
}

// Conn carries requests, responses and events over one stream. Its methods may be called
// from any goroutine. Calls return only while Serve is running.
type Conn struct {
	stream io.ReadWriteCloser

	writeMu sync.Mutex // held while a frame is written

	mu      sync.Mutex
	next    uint64
	pending map[uint64]chan<- frame       // our calls that wait for a response; nil when closed
	running map[uint64]context.CancelFunc // the other side's requests that are being handled
	cause   error                         // why the connection ended

	done      chan struct{} // closed when the connection has ended
	closeOnce sync.Once
}

// NewConn returns a connection over stream. It takes ownership of stream.
func NewConn(stream io.ReadWriteCloser) *Conn {
	return &Conn{
		stream:  stream,
		pending: map[uint64]chan<- frame{},
		running: map[uint64]context.CancelFunc{},
		done:    make(chan struct{}),
	}
}

// Done returns a channel that is closed when the connection has ended for any reason.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Close ends the connection: waiting calls fail with ErrClosed and Serve returns. Calling
// it twice is allowed.
func (c *Conn) Close() error {
	c.end(ErrClosed)
	return nil
}

// end ends the connection once; later causes are ignored. The error of closing the stream
// is dropped: a connection at its end has no use for it.
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

// closedError returns ErrClosed, with the cause if the connection was not ended by Close.
func (c *Conn) closedError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil || errors.Is(c.cause, ErrClosed) || errors.Is(c.cause, io.EOF) {
		return ErrClosed
	}
	return fmt.Errorf("%w: %w", ErrClosed, c.cause)
}

// Call sends a request, waits for its response and decodes it into out, which may be nil.
// If ctx ends first, Call returns its error at once and the other side's handler is
// canceled.
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
		// Ignore the error: if the other side is gone, there is nothing to cancel.
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

// decode is json.Unmarshal, except that numbers in an any keep their text: the kernel
// process passes MIME bundles on unchanged.
func decode(body []byte, out any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return d.Decode(out)
}

// Notify sends an event. It does not wait until the event has been handled.
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

// send writes one frame. A failed write ends the connection, since the stream may then
// contain part of a frame.
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

// Serve reads from c until the connection or ctx ends, and passes requests and events to
// handler. It returns when every handler that it started has returned: nil if the other
// side closed the stream between two frames or c was closed here, otherwise the reason.
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

// reader reads from a connection. One goroutine reads at a time.
type reader struct {
	conn    *Conn
	frames  *bufio.Reader
	handler Handler
	running sync.WaitGroup // the goroutines that read and that handle requests
}

// read reads until a request arrives or the connection ends. The goroutine that has read
// a request handles it, and a new goroutine continues to read: passing the request to a
// waiting goroutine would cost the time to wake it up.
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
			// An event has no response that could carry an error.
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
			if waiting != nil { // nil if the caller no longer waits
				waiting <- f
			}
		}
	}
}

// begin makes the context for a request of the other side. It returns false if the
// connection has ended.
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

// respond handles a request and sends its response.
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
		// If the connection has ended, nobody waits for the response.
		_ = c.send(frame{kind: kindFailure, id: request.id, body: []byte(err.Error())})
	}
}

// handle calls the handler and turns a panic into an error.
func handle(ctx context.Context, handler Handler, f frame) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, fmt.Errorf("panic in handler: %v", p)
		}
	}()
	return handler.Handle(ctx, f.method, f.body)
}
