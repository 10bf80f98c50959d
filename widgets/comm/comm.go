package comm

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/google/uuid"
)

// ErrNoFrontEnd is returned if no notebook is connected.
var ErrNoFrontEnd = errors.New("comm: no notebook is connected; run this in a cell of a notebook")

// ErrClosed is returned for a comm that either side has closed.
var ErrClosed = errors.New("comm: the comm is closed")

// Kind is the kind of a Message.
type Kind string

// The kinds of messages.
const (
	KindOpen    Kind = "open"
	KindMessage Kind = "message"
	KindClose   Kind = "close"
)

// Message is one message of a comm, in either direction.
type Message struct {
	Kind     Kind            // open, message or close
	ID       string          // of the comm
	Target   string          // of KindOpen
	Data     json.RawMessage // as the widget protocol defines it for Target
	Metadata json.RawMessage // JSON; empty for none
	Buffers  [][]byte        // binary data that Data refers to; may be nil
}

// Host sends messages to the front end.
type Host interface {
	// Send sends a message.
	Send(Message) error
	// Guard returns a function that runs f as part of the cell that called Guard: the output of
	// f and a panic of f appear in that cell, and an interrupt stops f.
	Guard(f func()) func()
	// Interactive reports whether a person can use the widgets of the running cell.
	Interactive() bool
}

// Comm is one open comm. Its methods may be called from any goroutine.
type Comm struct {
	id string

	mu       sync.Mutex
	closed   bool
	received func(Message)
	ended    func(Message)
	join     func(waiting, next Message) (Message, bool)
	handling bool       // a message handler is running
	slow     bool       // it has exceeded the time limit
	waiting  []delivery // messages waiting for it
}

// hub holds the host and the comms of the process. It is global because there is one front end.
var hub struct {
	sync.Mutex
	host    Host
	comms   map[string]*Comm
	targets map[string]func(*Comm, Message)
	queue   queue
}

// SetHost connects the process with a front end; nil disconnects it. It returns the previous host.
func SetHost(h Host) (previous Host) {
	hub.Lock()
	defer hub.Unlock()
	previous, hub.host = hub.host, h
	return previous
}

// Connected reports whether there is a front end.
func Connected() bool { return host() != nil }

// Interactive reports whether a person can use the widgets of the running cell. It is false in a
// plain program, and where cells run without a person, as with quern run or nbconvert.
func Interactive() bool {
	h := host()
	return h != nil && h.Interactive()
}

func host() Host {
	hub.Lock()
	defer hub.Unlock()
	return hub.host
}

// Open opens a comm to a target of the front end. Data and metadata are encoded with
// encoding/json; metadata may be nil.
func Open(target string, data, metadata any, buffers ...[]byte) (*Comm, error) {
	return OpenID(uuid.NewString(), target, data, metadata, buffers...)
}

// OpenID is like Open with an id chosen by the caller, which must be unique.
func OpenID(id, target string, data, metadata any, buffers ...[]byte) (*Comm, error) {
	h := host()
	if h == nil {
		return nil, ErrNoFrontEnd
	}
	m := Message{Kind: KindOpen, ID: id, Target: target, Buffers: buffers}
	if err := m.encode(data, metadata); err != nil {
		return nil, err
	}
	c := add(id)
	if err := h.Send(m); err != nil {
		c.forget()
		return nil, err
	}
	return c, nil
}

func (m *Message) encode(data, metadata any) (err error) {
	if m.Data, err = json.Marshal(data); err != nil {
		return fmt.Errorf("comm: encode data as JSON: %w", err)
	}
	if metadata != nil {
		if m.Metadata, err = json.Marshal(metadata); err != nil {
			return fmt.Errorf("comm: encode metadata as JSON: %w", err)
		}
	}
	return nil
}

func add(id string) *Comm {
	hub.Lock()
	defer hub.Unlock()
	if hub.comms == nil {
		hub.comms = map[string]*Comm{}
	}
	c := &Comm{id: id}
	hub.comms[id] = c
	return c
}

func (c *Comm) forget() {
	hub.Lock()
	delete(hub.comms, c.id)
	hub.Unlock()
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
}

// ID returns the id of the comm.
func (c *Comm) ID() string { return c.id }

// Send sends a message to the other side.
func (c *Comm) Send(data any, buffers ...[]byte) error {
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	h := host()
	switch {
	case closed:
		return ErrClosed
	case h == nil:
		return ErrNoFrontEnd
	}
	m := Message{Kind: KindMessage, ID: c.id, Buffers: buffers}
	if err := m.encode(data, nil); err != nil {
		return err
	}
	return h.Send(m)
}

// OnMessage sets the handler of messages, which runs as part of the running cell; nil drops
// messages.
func (c *Comm) OnMessage(f func(Message)) {
	f = guarded(f)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.received = f
}

// OnClose sets the function that is called when the other side closes the comm.
func (c *Comm) OnClose(f func(Message)) {
	f = guarded(f)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = f
}

// OnWaiting sets a function that joins the next message with the last one that waits for a running
// handler, for messages of which the newest counts. It returns false where both are needed. It must
// not use the comm.
func (c *Comm) OnWaiting(join func(waiting, next Message) (joined Message, ok bool)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.join = join
}

// guarded applies Guard to a handler that never runs twice at once.
func guarded(f func(Message)) func(Message) {
	if f == nil {
		return nil
	}
	var m Message
	call := Guard(func() { f(m) })
	return func(received Message) {
		m = received
		call()
	}
}

// Close closes the comm. It may be called more than once.
func (c *Comm) Close() error {
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed {
		return nil
	}
	c.forget()
	h := host()
	if h == nil {
		return nil
	}
	return h.Send(Message{Kind: KindClose, ID: c.id, Data: json.RawMessage("{}")})
}

// Register registers a target: opened is called with the first message of each comm that the
// front end opens to it. It may set handlers and send messages. A second call replaces the
// first; nil removes the target.
func Register(target string, opened func(*Comm, Message)) {
	hub.Lock()
	defer hub.Unlock()
	if hub.targets == nil {
		hub.targets = map[string]func(*Comm, Message){}
	}
	if opened == nil {
		delete(hub.targets, target)
		return
	}
	hub.targets[target] = opened
}

// Deliver delivers a message from the front end. It returns when the message has been handled,
// or when the handler has exceeded its time limit. It is called by the host. The result is
// false for a message that opens a comm to an unregistered target.
func Deliver(m Message) (known bool) {
	hub.Lock()
	c, opened := hub.comms[m.ID], hub.targets[m.Target]
	hub.Unlock()
	switch m.Kind {
	case KindOpen:
		if opened == nil {
			return false
		}
		c := add(m.ID)
		hub.queue.run(func() { opened(c, m) })
	case KindMessage:
		if c != nil {
			c.deliver(m)
		}
	case KindClose:
		if c == nil {
			break
		}
		c.forget()
		if f := c.handler(func(c *Comm) func(Message) { return c.ended }); f != nil {
			hub.queue.run(func() { f(m) })
		}
	}
	return true
}

func (c *Comm) handler(which func(*Comm) func(Message)) func(Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return which(c)
}

// Guard returns a function that runs f as part of the cell that called Guard, for a handler to
// call later.
func Guard(f func()) func() {
	if h := host(); h != nil {
		return h.Guard(f)
	}
	return f
}
