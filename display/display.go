package display

import (
	"sync"

	"github.com/google/uuid"
)

// Displayer is a value that shows itself. MIMEBundle maps a MIME type to its
// data: a string for text formats, a []byte for binary ones (sent as base64),
// or any value that encoding/json can encode for JSON formats. A bundle should
// always hold "text/plain".
//
// The method needs no import, so a type written in a cell can have it too.
type Displayer interface {
	MIMEBundle() map[string]any
}

// MetadataDisplayer adds metadata, keyed by MIME type, to a Displayer: the
// width and height of a picture, for instance.
type MetadataDisplayer interface {
	Displayer
	MIMEMetadata() map[string]any
}

// Kind says what a Message asks of the front end.
type Kind string

// The three things a cell may ask for while it runs.
const (
	KindDisplay Kind = "display" // show a new output
	KindUpdate  Kind = "update"  // replace the output that has this ID, wherever it is
	KindClear   Kind = "clear"   // remove the outputs of the running cell
)

// Message is one request to a front end.
type Message struct {
	Kind     Kind
	ID       string         // of the output; set for KindDisplay and KindUpdate
	Data     map[string]any // MIME type to data, as in Displayer
	Metadata map[string]any // keyed by MIME type; may be nil
	Wait     bool           // KindClear: wait for the next output before clearing
}

// Sink takes the messages to a front end: a notebook, a terminal, a test. It
// may be called from several goroutines at once.
type Sink interface {
	Display(Message)
}

// SinkFunc is a function used as a Sink.
type SinkFunc func(Message)

// Display calls f.
func (f SinkFunc) Display(m Message) { f(m) }

var current struct {
	sync.RWMutex
	sink Sink
}

// SetSink sends all further output to s and returns the sink it replaces. A
// program that never calls it prints the text form of what it shows to its
// standard output.
func SetSink(s Sink) (previous Sink) {
	current.Lock()
	defer current.Unlock()
	previous, current.sink = current.sink, s
	return previous
}

func send(m Message) {
	current.RLock()
	s := current.sink
	current.RUnlock()
	if s == nil {
		s = fallback
	}
	s.Display(m)
}

// Handle names an output that is already on the page, so that it can change in
// place.
type Handle struct {
	id string
}

// ID is the display id of the output.
func (h *Handle) ID() string { return h.id }

// Update replaces the output by v.
func (h *Handle) Update(v any) {
	data, metadata := Render(v)
	send(Message{Kind: KindUpdate, ID: h.id, Data: data, Metadata: metadata})
}

// Show shows each value now, below what the cell has shown so far, and returns
// the handle of the last one. With no value it returns a handle for an empty
// output that Update fills.
func Show(values ...any) *Handle {
	if len(values) == 0 {
		values = []any{Text("")}
	}
	h := &Handle{}
	for _, v := range values {
		h.id = uuid.NewString()
		data, metadata := Render(v)
		send(Message{Kind: KindDisplay, ID: h.id, Data: data, Metadata: metadata})
	}
	return h
}

// ClearOutput removes what the running cell has shown. With wait it does so
// only when the next output is there, which avoids flicker.
func ClearOutput(wait bool) {
	send(Message{Kind: KindClear, Wait: wait})
}
