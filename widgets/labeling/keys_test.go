package labeling

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/active"
	"github.com/quernlab/quern/widgets"
	"github.com/quernlab/quern/widgets/comm"
)

func TestKeysOf(t *testing.T) {
	for classes, want := range map[string]string{
		"0 1 2 3 4 5 6 7 8 9": "0 1 2 3 4 5 6 7 8 9", "cat dog": "1 2", "3 4": "3 4", "0 1 10": "1 2 3", "": "",
		"a b c d e f g h i j k": "1 2 3 4 5 6 7 8 9",
	} {
		if got := strings.Join(keysOf(strings.Fields(classes)), " "); got != want {
			t.Errorf("classes %s: keys %q, want %q", classes, got, want)
		}
	}
}

// loaded is a page that has been loaded again: it requests the states of all widgets.
type loaded struct {
	page
	states map[string]struct{ State map[string]any }
}

func (l *loaded) Send(m comm.Message) error {
	if m.ID != "control" || m.Kind != comm.KindMessage {
		return nil
	}
	var in struct {
		States map[string]struct{ State map[string]any }
	}
	err := json.Unmarshal(m.Data, &in)
	l.states = in.States
	return err
}

// field returns a field of a widget in a page that is loaded now.
func field(t *testing.T, w widgets.Widget, key string) any {
	t.Helper()
	l := &loaded{}
	previous := comm.SetHost(l)
	defer comm.SetHost(previous)
	comm.Deliver(comm.Message{Kind: comm.KindOpen, ID: "control", Target: "jupyter.widget.control"})
	comm.Deliver(comm.Message{Kind: comm.KindMessage, ID: "control", Data: json.RawMessage(`{"method":"request_states"}`)})
	comm.Deliver(comm.Message{Kind: comm.KindClose, ID: "control"})
	model, ok := l.states[w.ID()]
	if !ok {
		t.Fatalf("the page has no model of %v", w)
	}
	return model.State[key]
}

// TestKeys labels with keys and undoes an answer, while the page is loaded again.
func TestKeys(t *testing.T) {
	pool, panel, clock, asked := person(t)
	done := make(chan error, 1)
	go func() { done <- active.Ask(t.Context(), pool, []int{3, 1, 2}, panel) }()
	settled := func() {
		t.Helper()
		<-asked
		panel.mu.Lock()
		*clock = clock.Add(time.Second)
		panel.mu.Unlock()
	}
	types := func(text string) {
		t.Helper()
		state, err := json.Marshal(map[string]any{"method": "update", "state": map[string]any{"value": text}})
		if err != nil {
			t.Fatal(err)
		}
		comm.Deliver(comm.Message{Kind: comm.KindMessage, ID: panel.keys.ID(), Data: state})
		if panel.keys.Value() != "" {
			t.Errorf("after %q the field has %q", text, panel.keys.Value())
		}
	}
	settled()
	if panel.classes[0].String() != `Button(description="0")` || field(t, panel.undo, "disabled") != true {
		t.Errorf("%v; undo of nothing can be clicked", panel.classes[0])
	}
	types("u") // nothing to undo
	<-asked
	types("x") // no key
	types("2")
	<-asked
	settled()
	if label, ok := pool.Known(3); !ok || label != 2 {
		t.Errorf("after the key 2: %d, %v", label, ok)
	}
	if text := field(t, panel.text, "value"); text != "Question 2 of 3: which class is this?" {
		t.Errorf("the page that was loaded again says %q", text)
	}
	if outputs, _ := field(t, panel.image, "outputs").([]any); len(outputs) != 1 || field(t, panel.undo, "disabled") != false || field(t, panel.classes[1], "disabled") != false {
		t.Errorf("it has %d images, and inactive buttons", len(outputs))
	}
	types("u")
	<-asked
	settled()
	if _, ok := pool.Known(3); ok || panel.text.Value() != "Question 1 of 3: which class is this?" {
		t.Errorf("after undo: %v, %q", pool, panel.text.Value())
	}
	types("21") // typed faster than the field was cleared: the last character counts
	<-asked
	settled()
	types("s")
	<-asked
	settled()
	click(panel.undo)
	<-asked
	settled()
	if text := panel.text.Value(); text != "Question 2 of 3: which class is this?" {
		t.Errorf("after undoing a skip: %q", text)
	}
	types("s")
	<-asked
	settled()
	types("0")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	var labels []int
	for i := range 4 {
		label, ok := pool.Known(i)
		if !ok {
			label = -1
		}
		labels = append(labels, label)
	}
	if !slices.Equal(labels, []int{-1, -1, 0, 1}) {
		t.Errorf("labels %v", labels)
	}
	for _, w := range []widgets.Widget{panel.classes[0], panel.classes[2], panel.skip, panel.undo, panel.end, panel.keys} {
		if field(t, w, "disabled") != true {
			t.Errorf("at the end %v is active", w)
		}
	}
}
