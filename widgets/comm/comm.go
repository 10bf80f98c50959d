package comm

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/google/uuid"
)

// ErrNoFrontEnd is returned where there is no notebook to talk to.
var ErrNoFrontEnd = errors.New("comm: no notebook is connected")

// ErrClosed is returned for a comm that was closed, by either side.
var ErrClosed = errors.New("comm: closed")

// Kind says what a Message does.
type Kind string

// The three messages.
const (
	KindOpen    Kind = "open"
	KindMessage Kind = "message"
	KindClose   Kind = "close"
)

// Message is one message of a comm, in either direction.
type Message struct {
	Kind     Kind
	ID       string // of the comm
	Target   string // of KindOpen
	Data     json.RawMessage
	Metadata json.RawMessage
	Buffers  [][]byte
}

// Host takes messages to the front end.
type Host interface {
	// Send sends a message.
	Send(Message) error
	// Guard makes a function that runs f as a part of the cell that calls Guard:
	// what f prints belongs to it, and a panic of f is shown there. An interrupt
	// ends f.
	Guard(f func()) func()
}

// Comm is one open comm. Its methods may be called from any goroutine.
type Comm struct {
	id string

	mu       sync.Mutex
	closed   bool
	received func(Message)
	ended    func(Message)
	handling bool       // a handler of messages runs
	slow     bool       // it has taken more than its turn
	waiting  []delivery // behind it
}

// hub is what the two sides meet in: one for the process, as there is one front
// end.
var hub struct {
	sync.Mutex
	host    Host
	comms   map[string]*Comm
	targets map[string]func(*Comm, Message)
	turns   turns
}

// SetHost connects the process with a front end; nil disconnects it. It returns
// the host that it replaces.
func SetHost(h Host) (previous Host) {
	hub.Lock()
	defer hub.Unlock()
	previous, hub.host = hub.host, h
	return previous
}

// Connected reports whether there is a front end.
func Connected() bool { return host() != nil }

func host() Host {
	hub.Lock()
	defer hub.Unlock()
	return hub.host
}

// Open opens a comm to a target of the front end. Data and metadata are encoded
// by encoding/json; metadata may be nil.
func Open(target string, data, metadata any, buffers ...[]byte) (*Comm, error) {
	return OpenID(uuid.NewString(), target, data, metadata, buffers...)
}

// OpenID is Open with an id that the caller has chosen, which must be unique.
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
		return fmt.Errorf("comm: data has no JSON form: %w", err)
	}
	if metadata != nil {
		if m.Metadata, err = json.Marshal(metadata); err != nil {
			return fmt.Errorf("comm: metadata has no JSON form: %w", err)
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

// ID is the id of the comm.
func (c *Comm) ID() string { return c.id }

// Send sends a message to the object at the other end.
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

// OnMessage sets what is called for each message, as a part of the cell that
// runs; nil drops them.
func (c *Comm) OnMessage(f func(Message)) {
	f = guarded(f)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.received = f
}

// OnClose sets what is called when the other side closes the comm.
func (c *Comm) OnClose(f func(Message)) {
	f = guarded(f)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = f
}

// guarded is Guard for a handler, which is never called twice at once.
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

// Close closes the comm. Closing it twice is fine.
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

// Register names a target: opened is called for each comm that the front end
// opens to it, with its first message. It may set handlers and send. A second
// call replaces the first; nil removes the target.
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

// Deliver hands over a message of the front end and returns when it has been
// handled, or when the handler has taken too long to wait for it. It is for the
// host. The result is false for a message that opens a comm to a target that
// nobody has registered.
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
		hub.turns.run(func() { opened(c, m) })
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
			hub.turns.run(func() { f(m) })
		}
	}
	return true
}

func (c *Comm) handler(which func(*Comm) func(Message)) func(Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return which(c)
}

// Guard makes a function that runs f as a part of the cell that calls Guard, so
// that it can be called later, by a handler.
func Guard(f func()) func() {
	if h := host(); h != nil {
		return h.Guard(f)
	}
	return f
}
