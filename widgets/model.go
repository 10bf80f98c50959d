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

// The JavaScript modules of the models, and the version of the protocol.
const (
	baseModule      = "@jupyter-widgets/base"
	controlsModule  = "@jupyter-widgets/controls"
	moduleVersion   = "2.0.0"
	outputModule    = "@jupyter-widgets/output"
	outputVersion   = "1.0.0"
	protocolVersion = "2.1.0"
	target          = "jupyter.widget"
	viewMIME        = "application/vnd.jupyter.widget-view+json"
	reference       = "IPY_MODEL_" // prefix of a reference to another model in a state
)

// Widget is a control, or a box of controls.
type Widget interface {
	// ID returns the id of the model.
	ID() string
	// MIMEBundle returns the view; it makes every Widget a display.Displayer.
	MIMEBundle() map[string]any
	// Close removes the widget from all pages.
	Close() error
}

// model is the state of a widget, which is the same in the program and the front end.
type model struct {
	id   string
	name string // for String, such as IntSlider
	comm *comm.Comm

	mu      sync.Mutex
	state   map[string]any
	accepts map[string]func(json.RawMessage) (any, error) // decoders of the fields that the front end may change
	quiet   []string                                      // those of accepts that are no part of the value
	changed []func()                                      // called after the front end has changed the state
	buffers []buffer                                      // of the message that is decoded
	custom  func(json.RawMessage)
	reject  func(error)   // called with a value that was not accepted
	text    func() string // of String; nil for the fields of the state
	parts   []*model      // layout and style
}

// models are the open models by id: a reloaded page requests their states.
var models struct {
	sync.Mutex
	open map[string]*model
}

// newModel returns a model with this state and opens it in the front end, if there is one.
func newModel(name, module, version string, state map[string]any) *model {
	m := &model{id: uuid.NewString(), name: name, state: state, accepts: map[string]func(json.RawMessage) (any, error){}}
	state["_model_module"], state["_model_module_version"], state["_model_name"] = module, version, name+"Model"
	if _, ok := state["_view_name"]; !ok {
		state["_view_module"], state["_view_module_version"], state["_view_name"] = module, version, name+"View"
	}
	state["_view_count"] = nil
	return m
}

// viewed sets the view of a model with another name, and returns the state.
func viewed(view any, state map[string]any) map[string]any {
	state["_view_module"], state["_view_module_version"], state["_view_name"] = controlsModule, moduleVersion, view
	return state
}

// newControl returns a visible model, with a layout and, if style is not empty, a style.
func newControl(name, style string, state map[string]any, options []Option) *model {
	m := newModel(name, controlsModule, moduleVersion, state)
	m.finish(style, options)
	return m
}

// finish adds layout and style, applies the options, and opens the model.
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
		if m.name != "Button" { // whose name is the whole string
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

// open opens the model in the front end. Without a front end the model is an ordinary value.
func (m *model) open() {
	state, paths, buffers := split(m.state)
	c, err := comm.OpenID(m.id, target, message{State: state, BufferPaths: paths}, map[string]string{"version": protocolVersion}, buffers...)
	if err != nil {
		return
	}
	m.comm = c
	c.OnMessage(m.receive)
	c.OnWaiting(join)
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

// receive handles a message from the front end. It ignores fields that the front end may not
// change, and values of the wrong type.
func (m *model) receive(received comm.Message) {
	in, buffers, err := parse(received)
	if err != nil {
		return
	}
	switch in.Method {
	case "update":
		m.update(in.State, buffers)
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

// update changes the fields that the front end may change.
func (m *model) update(state map[string]json.RawMessage, buffers []buffer) {
	accepted := map[string]any{}
	var problem error
	m.mu.Lock()
	m.buffers = buffers
	for _, key := range slices.Sorted(maps.Keys(state)) {
		if read := m.accepts[key]; read != nil {
			value, err := read(state[key])
			if err != nil {
				problem = err
				continue
			}
			m.state[key], accepted[key] = value, value
		}
	}
	m.buffers = nil
	changed, reject := slices.Clone(m.changed), m.reject
	m.mu.Unlock()
	if problem != nil && reject != nil {
		reject(problem)
	}
	if len(accepted) == 0 {
		return
	}
	// Other pages that show the same notebook learn the change from this message.
	if echo := withoutBuffers(accepted); len(echo) > 0 {
		m.send(message{Method: "echo_update", State: echo})
	}
	for _, key := range m.quiet {
		delete(accepted, key)
	}
	if len(accepted) == 0 {
		return
	}
	for _, f := range changed {
		f()
	}
}

// SetDisabled makes the widget inactive, or active again. It does nothing to a widget that users
// never change.
func (m *model) SetDisabled(disabled bool) {
	m.mu.Lock()
	_, has := m.state["disabled"]
	m.mu.Unlock()
	if has {
		m.set("disabled", disabled)
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

// set changes the state and sends the change to the front end.
func (m *model) set(key string, value any) {
	m.mu.Lock()
	m.state[key] = value
	m.mu.Unlock()
	m.send(message{Method: "update", State: map[string]any{key: value}})
}

// send sends a message to the front end. It ignores errors: the program need not handle a front
// end that is gone or has closed the widget.
func (m *model) send(out message) {
	if m.comm != nil {
		var buffers [][]byte
		out.State, out.BufferPaths, buffers = split(out.State)
		_ = m.comm.Send(out, buffers...)
	}
}

// onChange adds a function that is called after the front end has changed the state, with its
// output in the running cell.
func (m *model) onChange(f func()) {
	f = comm.Guard(f)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changed = append(m.changed, f)
}

// get returns a field of the state, which always has this type.
func get[T any](m *model, key string) T {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state[key].(T)
}

// ID returns the id of the model.
func (m *model) ID() string { return m.id }

// MIMEBundle returns the view of the widget, and a line of text for front ends without widgets.
func (m *model) MIMEBundle() map[string]any {
	bundle := map[string]any{"text/plain": m.String()}
	if m.comm != nil {
		bundle[viewMIME] = map[string]any{"version_major": 2, "version_minor": 0, "model_id": m.id}
	}
	return bundle
}

// shownFields are the fields of a state that String shows.
var shownFields = []string{"description", "value", "min", "max", "index"}

// String returns the widget as a line of text.
func (m *model) String() string {
	if m.text != nil {
		return m.text()
	}
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
