package widgets_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/widgets"
	"github.com/quernlab/quern/widgets/comm"
)

var (
	_ display.Displayer = (*widgets.IntSlider)(nil)
	_ io.Writer         = (*widgets.Output)(nil)
)

// page is a front end that keeps the states of the models like its JavaScript does.
type page struct {
	mu     sync.Mutex // held by Send
	states map[string]map[string]any
	echoes []string
	custom []string
}

func (p *page) Send(m comm.Message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var data struct {
		Method string
		State  map[string]any
		Paths  [][]any `json:"buffer_paths"`
	}
	if err := json.Unmarshal(m.Data, &data); err != nil {
		return err
	}
	for i, path := range data.Paths {
		var place any = data.State
		for _, step := range path[:len(path)-1] {
			if index, ok := step.(float64); ok {
				place = place.([]any)[int(index)]
			} else {
				place = place.(map[string]any)[step.(string)]
			}
		}
		place.(map[string]any)[path[len(path)-1].(string)] = string(m.Buffers[i])
	}
	switch {
	case m.Kind == comm.KindOpen && m.Target == "jupyter.widget" && string(m.Metadata) == `{"version":"2.1.0"}`:
		p.states[m.ID] = data.State
	case m.Kind == comm.KindClose:
		delete(p.states, m.ID)
	case data.Method == "update":
		for k, v := range data.State {
			p.states[m.ID][k] = v
		}
	case data.Method == "echo_update":
		p.echoes = append(p.echoes, string(m.Data))
	case data.Method == "custom":
		p.custom = append(p.custom, string(m.Data))
	default:
		return fmt.Errorf("unexpected message %s of target %q", m.Data, m.Target)
	}
	return nil
}

// has reports whether a model is open.
func (p *page) has(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.states[id] != nil
}

func (p *page) Guard(f func()) func() { return f }

func (p *page) Interactive() bool { return true }

func open(t *testing.T) *page {
	p := &page{states: map[string]map[string]any{}}
	previous := comm.SetHost(p)
	t.Cleanup(func() { comm.SetHost(previous) })
	return p
}

// moves simulates what a user does with a widget.
func moves(w widgets.Widget, key, value string) {
	comm.Deliver(comm.Message{Kind: comm.KindMessage, ID: w.ID(),
		Data: json.RawMessage(fmt.Sprintf(`{"method":"update","state":{%q:%s},"buffer_paths":[]}`, key, value))})
}

func TestModels(t *testing.T) {
	p := open(t)
	tests := []struct {
		widget      widgets.Widget
		model, view string
		text        string
	}{
		{widgets.NewIntSlider(0, 10, 20, widgets.Description("n")), "IntSliderModel", "IntSliderView", `IntSlider(description="n", value=10, min=0, max=10)`},
		{widgets.NewFloatSlider(1, 0, 0.5), "FloatSliderModel", "FloatSliderView", `FloatSlider(value=0.5, min=0, max=1)`},
		{widgets.NewDropdown([]string{"a", "b"}), "DropdownModel", "DropdownView", `Dropdown("a" of ["a" "b"])`},
		{widgets.NewCheckbox(true), "CheckboxModel", "CheckboxView", `Checkbox(value=true)`},
		{widgets.NewText("x"), "TextModel", "TextView", `Text(value="x")`},
		{widgets.NewButton("go"), "ButtonModel", "ButtonView", `Button(description="go")`},
		{widgets.NewIntProgress(0, 10, 3), "IntProgressModel", "ProgressView", `IntProgress(value=3, min=0, max=10)`},
		{widgets.NewHTML("<b>x</b>"), "HTMLModel", "HTMLView", `HTML(value="<b>x</b>")`},
		{widgets.NewOutput(), "OutputModel", "OutputView", ``},
		{widgets.NewHBox(widgets.NewText("x"), widgets.NewCheckbox(false)), "HBoxModel", "HBoxView", `Text(value="x")  Checkbox(value=false)`},
	}
	for _, tt := range tests {
		t.Run(tt.model, func(t *testing.T) {
			state := p.states[tt.widget.ID()]
			if state["_model_name"] != tt.model || state["_view_name"] != tt.view {
				t.Errorf("model %v, view %v", state["_model_name"], state["_view_name"])
			}
			for _, key := range []string{"layout", "style"} {
				name, ok := state[key].(string)
				if !ok && key == "style" {
					continue
				}
				if part := p.states[strings.TrimPrefix(name, "IPY_MODEL_")]; part == nil || part["_model_module_version"] != "2.0.0" {
					t.Errorf("%s %q is no model", key, name)
				}
			}
			bundle := tt.widget.MIMEBundle()
			view, _ := json.Marshal(bundle["application/vnd.jupyter.widget-view+json"])
			if want := fmt.Sprintf(`{"model_id":%q,"version_major":2,"version_minor":0}`, tt.widget.ID()); string(view) != want {
				t.Errorf("view %s, want %s", view, want)
			}
			if bundle["text/plain"] != tt.text {
				t.Errorf("text %q, want %q", bundle["text/plain"], tt.text)
			}
			if err := tt.widget.Close(); err != nil || p.states[tt.widget.ID()] != nil {
				t.Errorf("closed: %v, still there: %v", err, p.states[tt.widget.ID()] != nil)
			}
		})
	}
}

// An option changes only fields that the widget's model in the front end has.
func TestOptions(t *testing.T) {
	p := open(t)
	for _, tt := range []struct {
		name   string
		widget widgets.Widget
		want   map[string]any // nil where there is no such field
	}{
		{"slider", widgets.NewIntSlider(0, 10, 1, widgets.Disabled(), widgets.OnRelease(), widgets.Step(2)), map[string]any{"disabled": true, "continuous_update": false, "step": 2.0}},
		{"text", widgets.NewText("", widgets.Disabled(), widgets.OnRelease(), widgets.Step(2)), map[string]any{"disabled": true, "continuous_update": false, "step": nil}},
		{"dropdown", widgets.NewDropdown(nil, widgets.Disabled()), map[string]any{"disabled": true}},
		{"button", widgets.NewButton("b", widgets.Disabled()), map[string]any{"disabled": true, "description_allow_html": nil}},
		{"bar", widgets.NewIntProgress(0, 1, 0, widgets.Disabled(), widgets.OnRelease()), map[string]any{"disabled": nil, "continuous_update": nil}},
		{"html", widgets.NewHTML("h", widgets.Disabled()), map[string]any{"disabled": nil}},
		{"checkbox", widgets.NewCheckbox(true, widgets.Disabled()), map[string]any{"disabled": true, "indent": false}},
		{"labeled checkbox", widgets.NewCheckbox(true, widgets.Description("on")), map[string]any{"disabled": false, "indent": true}},
	} {
		for key, want := range tt.want {
			if got, has := p.states[tt.widget.ID()][key]; has != (want != nil) || got != want {
				t.Errorf("%s: %s is %v (%v), want %v", tt.name, key, got, has, want)
			}
		}
	}
}

// Changes by a user arrive; impossible ones are dropped.
func TestChanges(t *testing.T) {
	p := open(t)
	slider, float := widgets.NewIntSlider(0, 10, 5), widgets.NewFloatSlider(0, 1, 0)
	box, text, list := widgets.NewCheckbox(false), widgets.NewText(""), widgets.NewDropdown([]string{"a", "b"})
	var calls []string
	slider.OnChange(func(v int) { calls = append(calls, fmt.Sprint(v)) })
	float.OnChange(func(v float64) { calls = append(calls, fmt.Sprint(v)) })
	box.OnChange(func(v bool) { calls = append(calls, fmt.Sprint(v)) })
	text.OnChange(func(v string) { calls = append(calls, v) })
	list.OnChange(func(v string) { calls = append(calls, v) })
	steps := []struct {
		widget     widgets.Widget
		key, value string
		want       string // the call; empty for none
	}{
		{slider, "value", "7", "7"},
		{slider, "value", "8.0", "8"},
		{slider, "value", "1e300", "10"},
		{slider, "value", `"x"`, ""},
		{slider, "value", "[", ""},
		{slider, "max", "1000", ""},
		{slider, "layout", `"IPY_MODEL_x"`, ""},
		{float, "value", "0.25", "0.25"},
		{float, "value", "0.7400000000000002", "0.74"}, // as a front end computes it
		{float, "value", "1e-17", "0"},
		{float, "value", "-3", "0"},
		{float, "value", "null", ""},
		{box, "value", "true", "true"},
		{box, "value", "1", ""},
		{text, "value", `"é"`, "é"},
		{list, "index", "1", "b"},
		{list, "index", "2", ""},
		{list, "index", "-1", ""},
	}
	for _, s := range steps {
		calls = nil
		moves(s.widget, s.key, s.value)
		if got := strings.Join(calls, " "); got != s.want {
			t.Errorf("%s = %s: called with %q, want %q", s.key, s.value, got, s.want)
		}
	}
	if slider.Value() != 10 || box.Value() != true || text.Value() != "é" || list.Value() != "b" || list.Index() != 1 {
		t.Errorf("values %v %v %v %v", slider.Value(), box.Value(), text.Value(), list.Value())
	}
	if p.echoes[0] != `{"method":"echo_update","state":{"value":7},"buffer_paths":[]}` {
		t.Errorf("echo %s", p.echoes[0])
	}

	calls = nil
	slider.SetValue(-4)
	list.SetValue("none")
	list.SetValue("a")
	if state := p.states[slider.ID()]; state["value"] != 0.0 || p.states[list.ID()]["index"] != 0.0 || calls != nil {
		t.Errorf("set: %v, index %v, calls %q", state["value"], p.states[list.ID()]["index"], calls)
	}
}

func TestButton(t *testing.T) {
	open(t)
	b, clicks := widgets.NewButton("go"), 0
	b.OnClick(func() { clicks++ })
	for _, content := range []string{`{"event":"click"}`, `{"event":"other"}`, `3`} {
		comm.Deliver(comm.Message{Kind: comm.KindMessage, ID: b.ID(), Data: json.RawMessage(`{"method":"custom","content":` + content + `}`)})
	}
	if clicks != 1 {
		t.Errorf("%d clicks", clicks)
	}
}

func TestOutput(t *testing.T) {
	p := open(t)
	out := widgets.NewOutput()
	fmt.Fprint(out, "a")
	fmt.Fprint(out, "b")
	out.Show(display.HTML("<i>x</i>"))
	state, _ := json.Marshal(p.states[out.ID()]["outputs"])
	if want := `[{"name":"stdout","output_type":"stream","text":"ab"},{"data":{"text/html":"\u003ci\u003ex\u003c/i\u003e","text/plain":"\u003ci\u003ex\u003c/i\u003e"},"metadata":{},"output_type":"display_data"}]`; string(state) != want {
		t.Errorf("outputs %s\nwant    %s", state, want)
	}
	out.Clear()
	if state, _ := json.Marshal(p.states[out.ID()]["outputs"]); string(state) != "[]" {
		t.Errorf("after Clear: %s", state)
	}
	for range 220 {
		out.Show(1)
	}
	if n := len(p.states[out.ID()]["outputs"].([]any)); n != 200 {
		t.Errorf("%d outputs are kept", n)
	}
}

// named is a function with its parameter names, as a cell passes it.
type named struct{ function any }

func (n named) Function() any            { return n.function }
func (n named) ParameterNames() []string { return []string{"points", "kind"} }

func TestInteractLabels(t *testing.T) {
	p := open(t)
	own := widgets.NewText("a", widgets.Description("mine"))
	if _, err := widgets.Interact(named{func(int, string) {}}, 3, own); err != nil {
		t.Fatal(err)
	}
	labels := map[any]any{}
	for _, state := range p.states {
		if d, ok := state["description"]; ok {
			labels[state["_model_name"]] = d
		}
	}
	if want := map[any]any{"IntSliderModel": "points", "TextModel": "mine"}; !maps.Equal(labels, want) {
		t.Errorf("got %v, want %v", labels, want)
	}
}

func TestInteract(t *testing.T) {
	open(t)
	n := widgets.NewIntSlider(0, 10, 2)
	box, err := widgets.Interact(func(n int, s string) (string, error) {
		if n == 9 {
			return "", errors.New("nine")
		}
		return strings.Repeat(s, n), nil
	}, n, "ab")
	if err != nil {
		t.Fatal(err)
	}
	last := func() string { lines := strings.Split(box.String(), "\n"); return lines[len(lines)-1] }
	if last() != "abab" {
		t.Errorf("at first %q", last())
	}
	moves(n, "value", "3")
	if last() != "ababab" {
		t.Errorf("moved: %q", last())
	}
	moves(n, "value", "9")
	if last() != "error: nine" {
		t.Errorf("failed: %q", last())
	}
	for _, parameters := range [][]any{{1}, {1, 2}, {1.5, "x"}, {struct{}{}, "x"}} {
		if _, err := widgets.Interact(func(int, string) {}, parameters...); err == nil {
			t.Errorf("Interact accepts %v", parameters)
		}
	}
	if _, err := widgets.Interact(3); err == nil {
		t.Error("3 is a function")
	}
}

// A reloaded page requests all states at once.
func TestRequestStates(t *testing.T) {
	p := &replies{page: open(t)}
	comm.SetHost(p)
	s := widgets.NewIntSlider(0, 10, 4)
	comm.Deliver(comm.Message{Kind: comm.KindOpen, ID: "control", Target: "jupyter.widget.control"})
	comm.Deliver(comm.Message{Kind: comm.KindMessage, ID: "control", Data: json.RawMessage(`{"method":"request_states"}`)})
	var answer struct {
		Method string
		States map[string]struct {
			Name   string `json:"model_name"`
			Module string `json:"model_module"`
			State  map[string]any
		}
	}
	if err := json.Unmarshal(p.last, &answer); err != nil {
		t.Fatal(err)
	}
	if got := answer.States[s.ID()]; answer.Method != "update_states" || got.Name != "IntSliderModel" || got.Module != "@jupyter-widgets/controls" || got.State["value"] != 4.0 {
		t.Errorf("%s", p.last)
	}
}

// replies records the last message of the control comm.
type replies struct {
	*page
	last json.RawMessage
}

func (r *replies) Send(m comm.Message) error {
	if m.ID == "control" {
		r.last = m.Data
		return nil
	}
	return r.page.Send(m)
}

func Example() {
	n := widgets.NewIntSlider(1, 100, 10, widgets.Description("bins"))
	n.OnChange(func(n int) { fmt.Println("now", n) })
	n.SetValue(20)
	fmt.Println(n)
	// Output: IntSlider(description="bins", value=20, min=1, max=100)
}
