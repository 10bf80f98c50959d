package widgets

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/quernlab/quern/widgets/comm"
)

// The modules of the models, and of the protocol between the two sides.
const (
	baseModule      = "@jupyter-widgets/base"
	controlsModule  = "@jupyter-widgets/controls"
	moduleVersion   = "2.0.0"
	outputModule    = "@jupyter-widgets/output"
	outputVersion   = "1.0.0"
	protocolVersion = "2.1.0"
	target          = "jupyter.widget"
	viewMIME        = "application/vnd.jupyter.widget-view+json"
	reference       = "IPY_MODEL_" // begins the name of another model in a state
)

// Widget is a control, or a box of controls.
type Widget interface {
	// ID is the id of the model.
	ID() string
	// MIMEBundle shows the widget; it makes every Widget a display.Displayer.
	MIMEBundle() map[string]any
	// Close removes the widget from all pages.
	Close() error
}

// model is the state of a widget, the same on both sides.
type model struct {
	id   string
	name string // for text: IntSlider
	comm *comm.Comm

	mu      sync.Mutex
	state   map[string]any
	accepts map[string]func(json.RawMessage) (any, error) // what the front end may change, and how it is read
	changed []func()                                      // called when the front end has changed the state
	custom  func(json.RawMessage)
	parts   []*model // layout and style
}

// models are those that are open, by id: a page that is loaded again asks for
// their states.
var models struct {
	sync.Mutex
	open map[string]*model
}

// newModel makes a model of a module with its state and opens it in the front
// end, if there is one.
func newModel(name, module, version string, state map[string]any) *model {
	m := &model{id: uuid.NewString(), name: name, state: state, accepts: map[string]func(json.RawMessage) (any, error){}}
	state["_model_module"], state["_model_module_version"], state["_model_name"] = module, version, name+"Model"
	if _, ok := state["_view_name"]; !ok {
		state["_view_module"], state["_view_module_version"], state["_view_name"] = module, version, name+"View"
	}
	state["_view_count"] = nil
	return m
}

// newControl makes a model that is seen, with a layout and, if style is not
// empty, a style.
func newControl(name, style string, state map[string]any, options []Option) *model {
	m := newModel(name, controlsModule, moduleVersion, state)
	m.finish(style, options)
	return m
}

// finish adds layout, style and what the options say, and opens the model.
func (m *model) finish(style string, options []Option) {
	layout := newModel("Layout", baseModule, moduleVersion, map[string]any{})
	m.parts = append(m.parts, layout)
	m.state["layout"] = reference + layout.id
	if style != "" {
		s := newModel(style, controlsModule, moduleVersion, map[string]any{
			"_view_module": baseModule, "_view_module_version": moduleVersion, "_view_name": "StyleView",
		})
		m.parts = append(m.parts, s)
		m.state["style"] = reference + s.id
		m.state["description"] = ""
		if style != buttonStyle { // which is a plain text
			m.state["description_allow_html"] = false
		}
	}
	m.state["tabbable"], m.state["tooltip"], m.state["_dom_classes"] = nil, nil, []string{}
	for _, o := range options {
		o(m.state, layout.state)
	}
	for _, part := range m.parts {
		part.open()
	}
	m.open()
}

// open opens the model in the front end. Without one it is a value like others.
func (m *model) open() {
	c, err := comm.OpenID(m.id, target, message{State: m.state, BufferPaths: []any{}}, map[string]string{"version": protocolVersion})
	if err != nil {
		return
	}
	m.comm = c
	c.OnMessage(m.receive)
	c.OnClose(func(comm.Message) { m.forget() })
	models.Lock()
	defer models.Unlock()
	if models.open == nil {
		models.open = map[string]*model{}
	}
	models.open[m.id] = m
	comm.Register(controlTarget, openControl)
}

func (m *model) forget() {
	models.Lock()
	defer models.Unlock()
	delete(models.open, m.id)
}

// message is what the two sides say about a model.
type message struct {
	Method      string          `json:"method,omitempty"`
	State       map[string]any  `json:"state,omitempty"`
	BufferPaths []any           `json:"buffer_paths"`
	Content     json.RawMessage `json:"content,omitempty"`
}

// receive handles a message of the front end. What it may not change, or what is
// of the wrong type, stays as it is.
func (m *model) receive(received comm.Message) {
	var in struct {
		Method  string                     `json:"method"`
		State   map[string]json.RawMessage `json:"state"`
		Content json.RawMessage            `json:"content"`
	}
	if json.Unmarshal(received.Data, &in) != nil {
		return
	}
	switch in.Method {
	case "update":
		m.update(in.State)
	case "request_state":
		m.mu.Lock()
		state := maps.Clone(m.state)
		m.mu.Unlock()
		m.send(message{Method: "update", State: state})
	case "custom":
		m.mu.Lock()
		custom := m.custom
		m.mu.Unlock()
		if custom != nil {
			custom(in.Content)
		}
	}
}

func (m *model) update(state map[string]json.RawMessage) {
	accepted := map[string]any{}
	m.mu.Lock()
	for _, key := range slices.Sorted(maps.Keys(state)) {
		if read := m.accepts[key]; read != nil {
			if value, err := read(state[key]); err == nil {
				m.state[key], accepted[key] = value, value
			}
		}
	}
	changed := slices.Clone(m.changed)
	m.mu.Unlock()
	if len(accepted) == 0 {
		return
	}
	// Other pages that show the same notebook learn of it from us.
	m.send(message{Method: "echo_update", State: accepted})
	for _, f := range changed {
		f()
	}
}

// label sets the description, if there is none.
func (m *model) label(text string) {
	m.mu.Lock()
	empty := m.state["description"] == ""
	m.mu.Unlock()
	if empty && text != "" {
		m.set("description", text)
	}
}

// set changes the state and tells the front end.
func (m *model) set(key string, value any) {
	m.mu.Lock()
	m.state[key] = value
	m.mu.Unlock()
	m.send(message{Method: "update", State: map[string]any{key: value}})
}

// send tells the front end something. That it has gone, or has closed the
// widget, is nothing that the program need care for.
func (m *model) send(out message) {
	if m.comm != nil {
		out.BufferPaths = []any{}
		_ = m.comm.Send(out)
	}
}

// onChange adds what is called when the front end has changed the state, as a
// part of the cell that runs.
func (m *model) onChange(f func()) {
	f = comm.Guard(f)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changed = append(m.changed, f)
}

// get reads a field of the state, which always has this type.
func get[T any](m *model, key string) T {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state[key].(T)
}

// ID is the id of the model.
func (m *model) ID() string { return m.id }

// MIMEBundle shows the widget, and a line of text where there are none.
func (m *model) MIMEBundle() map[string]any {
	bundle := map[string]any{"text/plain": m.String()}
	if m.comm != nil {
		bundle[viewMIME] = map[string]any{"version_major": 2, "version_minor": 0, "model_id": m.id}
	}
	return bundle
}

// shownFields are the fields of a state that the text of a widget tells.
var shownFields = []string{"description", "value", "min", "max", "index"}

// String is the widget in a line of text.
func (m *model) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var fields []string
	for _, key := range shownFields {
		switch value := m.state[key].(type) {
		case nil:
		case string:
			if value != "" {
				fields = append(fields, fmt.Sprintf("%s=%q", key, value))
			}
		default:
			fields = append(fields, fmt.Sprintf("%s=%v", key, value))
		}
	}
	return m.name + "(" + strings.Join(fields, ", ") + ")"
}

// Close removes the widget from all pages.
func (m *model) Close() error {
	var first error
	for _, part := range append([]*model{m}, m.parts...) {
		part.forget()
		if part.comm == nil {
			continue
		}
		if err := part.comm.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}
