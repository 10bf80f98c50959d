package display_test

import (
	"bytes"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/display"
)

// capture collects the messages until the test ends.
func capture(t *testing.T) *[]display.Message {
	t.Helper()
	var got []display.Message
	previous := display.SetSink(display.SinkFunc(func(m display.Message) { got = append(got, m) }))
	t.Cleanup(func() { display.SetSink(previous) })
	return &got
}

type card struct{ title string }

func (c card) MIMEBundle() map[string]any {
	return map[string]any{"text/html": "<b>" + c.title + "</b>", "text/plain": c.title}
}

type broken struct{}

func (broken) MIMEBundle() map[string]any { panic("no ink") }

// bundle is a Displayer whose MIMEBundle is the map itself.
type bundle map[string]any

func (b bundle) MIMEBundle() map[string]any { return b }

func TestRender(t *testing.T) {
	tests := []struct {
		name string
		in   any
		mime string
		want any
	}{
		{"number", 42, "text/plain", "42"},
		{"displayer", card{"hi"}, "text/html", "<b>hi</b>"},
		{"displayer text", card{"hi"}, "text/plain", "hi"},
		{"html", display.HTML("<i>x</i>"), "text/html", "<i>x</i>"},
		{"markdown", display.Markdown("# x"), "text/markdown", "# x"},
		{"latex", display.LaTeX("$x$"), "text/latex", "$x$"},
		{"text", display.Text("x"), "text/plain", "x"},
		{"panic", broken{}, "text/plain", "display_test.broken cannot be shown: no ink"},
		{"no bundle", bundle(nil), "text/plain", "display_test.bundle"},
		{"text that is none", bundle{"text/plain": []int{1}}, "text/plain", "[1]"},
		{"bundle without a JSON form", bundle{"text/html": make(chan int)}, "text/plain", "text/html cannot be shown: json: unsupported type: chan int"},
		{"bundle without a JSON form, the rest", bundle{"text/html": "<b>", "x": make(chan int)}, "text/html", "<b>"},
		{"bundle without a JSON form, itself", bundle{"x": make(chan int)}, "x", nil},
		{"not JSON", display.JSON(func() {}), "text/plain",
			"display: cannot encode this value as JSON: json: unsupported type: func()"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data, _ := display.Render(tt.in)
			if data[tt.mime] != tt.want {
				t.Errorf("Render(%v)[%q]\n want %v\n got  %v", tt.in, tt.mime, tt.want, data[tt.mime])
			}
		})
	}
}

func TestRenderLeavesTheBundleAlone(t *testing.T) {
	b := bundle{"text/html": "a", "x": func() {}}
	if data, _ := display.Render(b); len(b) != 2 || data["x"] != nil {
		t.Errorf("the bundle has become %v, and %v was rendered", b, data)
	}
}

func TestRenderImage(t *testing.T) {
	data, metadata := display.Render(image.NewGray(image.Rect(0, 0, 3, 2)))
	b, _ := data["image/png"].([]byte)
	if !bytes.HasPrefix(b, []byte("\x89PNG")) {
		t.Errorf("no PNG in %v", data)
	}
	if got := fmt.Sprint(metadata); got != "map[image/png:map[height:2 width:3]]" {
		t.Errorf("metadata %s", got)
	}
	if data, _ := display.Render(image.NewGray(image.Rect(0, 0, 0, 0))); data["image/png"] != nil {
		t.Error("an empty image was encoded")
	}
}

func TestShowAndUpdate(t *testing.T) {
	got := capture(t)
	h := display.Show("first")
	h.Update("second")
	display.ClearOutput(true)
	if len(*got) != 3 {
		t.Fatalf("want 3 messages, got %v", *got)
	}
	show, update, clear := (*got)[0], (*got)[1], (*got)[2]
	if show.Kind != display.KindDisplay || show.Data["text/plain"] != "first" {
		t.Errorf("show: %v", show)
	}
	if update.Kind != display.KindUpdate || update.ID != show.ID || update.Data["text/plain"] != "second" {
		t.Errorf("update: %v", update)
	}
	if clear.Kind != display.KindClear || !clear.Wait {
		t.Errorf("clear: %v", clear)
	}
}

func TestResult(t *testing.T) {
	got := capture(t)
	display.Result(display.HTML("<b>x</b>"), nil) // of a call that has not failed
	display.Result(display.HTML("<b>x</b>"), "more")
	display.Result(1, nil)
	for i, want := range []string{"map[text/html:<b>x</b> text/plain:<b>x</b>]", "map[text/plain:<b>x</b>, \"more\"]", "map[text/plain:1, <nil>]"} {
		if shown := fmt.Sprint((*got)[i].Data); shown != want {
			t.Errorf("result %d is %s, want %s", i, shown, want)
		}
	}
}

func TestTerminalPrintsChangesOnly(t *testing.T) {
	var b strings.Builder
	s := display.Terminal(&b)
	for _, text := range []string{"10 %", "10 %", "20 %"} {
		s.Display(display.Message{Kind: display.KindUpdate, ID: "1", Data: map[string]any{"text/plain": text}})
	}
	if b.String() != "10 %\n20 %\n" {
		t.Errorf("got %q", b.String())
	}
}

// The state of a running operation is printed to standard error, so that what a program writes to
// standard output does not depend on its speed.
func TestTerminalPrintsProgressToStandardError(t *testing.T) {
	stdout, stderr := redirect(t, &os.Stdout), redirect(t, &os.Stderr)
	previous := display.SetSink(nil)
	t.Cleanup(func() { display.SetSink(previous) })
	handle := display.Show(display.Progress{Label: "running", Done: 1, Total: 2})
	handle.Update(display.Progress{Label: "running", Done: 2, Total: 2, Ended: true})
	handle.Update("result")
	display.Show(state("state"))
	display.Show(unsure{})
	if got, want := stdout(), "result\nunsure\n"; got != want {
		t.Errorf("standard output has %q, want %q", got, want)
	}
	got := stderr()
	for _, want := range []string{"running [###############...............] 1/2", "running [##############################] 2/2", "state"} {
		if !strings.Contains(got, want) {
			t.Errorf("standard error has %q, want %q in it", got, want)
		}
	}
}

// state is a Displayer that is the state of something.
type state string

func (s state) MIMEBundle() map[string]any { return map[string]any{"text/plain": string(s)} }
func (state) Interim() bool                { return true }

// unsure is a Displayer whose Interim panics.
type unsure struct{}

func (unsure) MIMEBundle() map[string]any { return map[string]any{"text/plain": "unsure"} }
func (unsure) Interim() bool              { panic("unsure") }

// redirect replaces a standard stream by a file until the test ends, and returns a function that
// reads it.
func redirect(t *testing.T, stream **os.File) func() string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "stream"))
	if err != nil {
		t.Fatal(err)
	}
	previous := *stream
	*stream = f
	t.Cleanup(func() {
		*stream = previous
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return func() string {
		b, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
}

func ExampleShow() {
	display.SetSink(display.Terminal(os.Stdout))
	defer display.SetSink(nil)
	h := display.Show(display.Markdown("*training*"))
	h.Update("done")
	// Output:
	// *training*
	// done
}
