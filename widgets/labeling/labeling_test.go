package labeling

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/active"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/widgets"
	"github.com/quernlab/quern/widgets/comm"
)

// page is a front end that accepts everything.
type page struct{}

func (page) Send(comm.Message) error { return nil }

func (page) Guard(f func()) func() { return f }

func (page) Interactive() bool { return true }

func click(b *widgets.Button) {
	comm.Deliver(comm.Message{Kind: comm.KindMessage, ID: b.ID(), Data: json.RawMessage(`{"method":"custom","content":{"event":"click"}}`)})
}

// person returns a pool and a panel with a clock controlled by the test; asked receives each
// text that the panel shows about a question.
func person(t *testing.T) (*active.Pool, *Panel, *time.Time, chan string) {
	t.Helper()
	previous := comm.SetHost(page{})
	old := display.SetSink(display.SinkFunc(func(display.Message) {}))
	t.Cleanup(func() { comm.SetHost(previous); display.SetSink(old) })
	set, err := data.FromSlices([][]float32{{0}, {1}, {2}, {3}}, []int{0, 1, 2, 0})
	if err != nil {
		t.Fatal(err)
	}
	clock := time.Unix(0, 0)
	p, asked := Buttons(), make(chan string, 10)
	p.now = func() time.Time {
		select { // a question has been asked
		case asked <- "":
		default:
		}
		return clock
	}
	return active.NewPool(set, 0, 1), p, &clock, asked
}

func TestButtons(t *testing.T) {
	pool, panel, clock, asked := person(t)
	done := make(chan error, 1)
	go func() { done <- active.Ask(t.Context(), pool, []int{3, 1, 2, 0}, panel) }()

	// settled waits for the question and lets the time of double clicks pass.
	settled := func() {
		t.Helper()
		<-asked
		panel.mu.Lock()
		*clock = clock.Add(time.Second)
		panel.mu.Unlock()
	}
	clicks := func(b *widgets.Button) {
		click(b)
		<-asked // the clock was read
	}
	settled()
	clicks(panel.classes[2])
	<-asked                 // the next question
	click(panel.classes[2]) // too early: the second click of a double click
	<-asked
	panel.mu.Lock()
	*clock = clock.Add(time.Second)
	panel.mu.Unlock()
	clicks(panel.skip)
	settled()
	clicks(panel.classes[0])
	settled()
	clicks(panel.end)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	click(panel.classes[1]) // no open question
	for i, want := range []int{-1, -1, 0, 2} {
		if label, ok := pool.Known(i); ok != (want >= 0) || ok && label != want {
			t.Errorf("example %d: %d, %v; want %d", i, label, ok, want)
		}
	}
	if text := panel.text.Value(); text != "ended at question 4 of 4" {
		t.Errorf("the panel says %q", text)
	}
}

// TestNumbers asks for targets: a text that is no number keeps the question open.
func TestNumbers(t *testing.T) {
	_, panel, clock, asked := person(t)
	set, err := data.FromTargets([][]float32{{0}, {1}}, [][]float32{{0, 0}, {0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	if set, err = set.WithTargets("width", "height"); err != nil {
		t.Fatal(err)
	}
	pool := active.NewPool(set, 0, 1)
	done := make(chan error, 1)
	go func() { done <- active.Ask(t.Context(), pool, []int{1, 0}, panel) }()
	settled := func() {
		t.Helper()
		<-asked
		panel.mu.Lock()
		*clock = clock.Add(time.Second)
		panel.mu.Unlock()
	}
	fill := func(k int, text string) {
		state, err := json.Marshal(map[string]any{"method": "update", "state": map[string]any{"value": text}})
		if err != nil {
			t.Fatal(err)
		}
		comm.Deliver(comm.Message{Kind: comm.KindMessage, ID: panel.numbers[k].ID(), Data: state})
	}
	settled()
	fill(0, "2.5")
	fill(1, "tall")
	click(panel.store)
	if text := panel.text.Value(); text != "Question 1 of 2: which numbers has this? height: &#34;tall&#34; is not a number" {
		t.Errorf("the panel says %q", text)
	}
	fill(1, " -1e3 ")
	click(panel.store)
	<-asked
	settled()
	if text := panel.numbers[0].Value(); text != "" {
		t.Errorf("the next question has %q in a field", text)
	}
	click(panel.skip)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got, ok := pool.KnownTargets(1); !ok || len(got) != 2 || got[0] != 2.5 || got[1] != -1000 {
		t.Errorf("stored %v, %v", got, ok)
	}
	if _, ok := pool.KnownTargets(0); ok {
		t.Error("the skipped example has targets")
	}
}

// batch is a front end without a person.
type batch struct{ page }

func (batch) Interactive() bool { return false }

// TestNobodyCanClick asks with quern run, where nobody can click, and in a plain program.
func TestNobodyCanClick(t *testing.T) {
	pool, panel, _, _ := person(t)
	for name, host := range map[string]comm.Host{"quern run": batch{}, "a program": nil} {
		comm.SetHost(host)
		if err := active.Ask(t.Context(), pool, []int{0}, panel); !errors.Is(err, ErrNobody) {
			t.Errorf("%s: %v, want ErrNobody", name, err)
		}
	}
}

func TestButtonsAreInterrupted(t *testing.T) {
	pool, panel, _, asked := person(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- active.Ask(ctx, pool, []int{0}, panel) }()
	<-asked
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) || pool.Len() != 0 {
		t.Errorf("%v, %v", err, pool)
	}
	click(panel.classes[0]) // does not block
	click(panel.classes[0])
}
