package display

import (
	"sync"

	"github.com/google/uuid"
)

// Displayer is a value with its own rich representation. MIMEBundle maps MIME types to data: a
// string for text formats, a []byte for binary ones (sent as base64), or, for JSON formats, any
// value that encoding/json can encode. A bundle should always contain "text/plain".
//
// The method needs no import, so a type declared in a cell can have it too.
type Displayer interface {
	MIMEBundle() map[string]any
}

// MetadataDisplayer adds metadata, keyed by MIME type, to a Displayer: the width and height of
// an image, for instance.
type MetadataDisplayer interface {
	Displayer
	// MIMEMetadata returns the metadata by MIME type.
	MIMEMetadata() map[string]any
}

// InterimDisplayer is a Displayer that may be only the state of a running operation, such as a
// progress bar. A program without a notebook prints it to standard error.
type InterimDisplayer interface {
	Displayer
	// Interim reports whether the operation still runs.
	Interim() bool
}

// Kind is the kind of a Message.
type Kind string

// The kinds of messages.
const (
	KindDisplay Kind = "display" // display a new output
	KindUpdate  Kind = "update"  // replace the output with this ID, in any cell
	KindClear   Kind = "clear"   // remove the outputs of the running cell
)

// Message is one request to a front end.
type Message struct {
	Kind     Kind                // what the front end does
	ID       string              // of the output; set for KindDisplay and KindUpdate
	Data     map[string]any      // MIME type to data, as in Displayer
	Metadata map[string]any      // keyed by MIME type; may be nil
	Interim  bool                // the state of a running operation, as in InterimDisplayer
	Wait     bool                // for KindClear: wait for the next output before clearing
	Figures  []InteractiveFigure // of the displayed value, see Figures
}

// Sink receives the messages for a front end: a notebook, a terminal, a test. Several
// goroutines may call it at once.
type Sink interface {
	// Display sends a message to the front end.
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

// SetSink sends all further output to s and returns the previous sink. A program that never
// calls it prints the text form of its output to standard output, and progress to standard error.
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

// Handle identifies a displayed output, so that it can be changed in place.
type Handle struct {
	id string
}

// ID returns the display id of the output.
func (h *Handle) ID() string { return h.id }

// Update replaces the output by v.
func (h *Handle) Update(v any) {
	send(newMessage(KindUpdate, h.id, v))
}

// Show displays each value immediately, below the earlier output of the cell, and returns the
// handle of the last one. Without values it returns the handle of an empty output that Update
// fills.
func Show(values ...any) *Handle {
	if len(values) == 0 {
		values = []any{Text("")}
	}
	h := &Handle{}
	for _, v := range values {
		h.id = uuid.NewString()
		send(newMessage(KindDisplay, h.id, v))
	}
	return h
}

func newMessage(kind Kind, id string, v any) Message {
	data, metadata := Render(v)
	return Message{Kind: kind, ID: id, Data: data, Metadata: metadata, Interim: interim(v), Figures: Figures(v)}
}

// interim reports whether v is only the state of a running operation.
func interim(v any) (is bool) {
	defer func() {
		if recover() != nil {
			is = false // like in Render, a value that panics must not end the program
		}
	}()
	d, ok := v.(InterimDisplayer)
	return ok && d.Interim()
}

// ClearOutput removes the output of the running cell. With wait, it does so only when the next
// output arrives, which avoids flicker.
func ClearOutput(wait bool) {
	send(Message{Kind: KindClear, Wait: wait})
}
