package progress

import (
	"slices"
	"testing"
	"time"

	"github.com/quernlab/quern/display"
)

// shown collects the messages of the bars.
func shown(t *testing.T) *[]display.Message {
	var got []display.Message
	previous := display.SetSink(display.SinkFunc(func(m display.Message) { got = append(got, m) }))
	t.Cleanup(func() { display.SetSink(previous) })
	return &got
}

func TestBar(t *testing.T) {
	got := shown(t)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b := newBar(4, "<load>", func() time.Time { return at })
	b.Add(1) // too soon to be shown
	at = at.Add(2 * time.Second)
	b.Add(1)
	at = at.Add(time.Hour)
	b.Add(2)
	b.End()
	b.End()
	var texts []any
	for _, m := range *got {
		if m.ID != (*got)[0].ID {
			t.Error("another output")
		}
		texts = append(texts, m.Data["text/plain"])
	}
	want := []any{
		"<load> [..............................] 0/4  00:00",
		"<load> [###############...............] 2/4  00:02, 00:02 left, 1/s",
		"<load> [##############################] 4/4  1:00:02, 0.00111/s",
		"<load> [##############################] 4/4  1:00:02, 0.00111/s",
	}
	if !slices.Equal(texts, want) {
		t.Errorf("got  %q\nwant %q", texts, want)
	}
	const page = `<div style="font-family: var(--jp-code-font-family, monospace)">&lt;load&gt; <progress value="0.5" max="1" aria-label="&lt;load&gt;" style="width: 20em; max-width: 100%; vertical-align: middle"></progress> 2/4  00:02, 00:02 left, 1/s</div>`
	if h := (*got)[1].Data["text/html"]; h != page {
		t.Errorf("HTML %s", h)
	}
}

func TestLoops(t *testing.T) {
	got := shown(t)
	if all := slices.Collect(Each([]string{"a", "b"})); !slices.Equal(all, []string{"a", "b"}) {
		t.Errorf("Each: %q", all)
	}
	if all := slices.Collect(Range(3)); !slices.Equal(all, []int{0, 1, 2}) {
		t.Errorf("Range: %d", all)
	}
	if all := slices.Collect(Seq(Range(2))); !slices.Equal(all, []int{0, 1}) {
		t.Errorf("Seq: %d", all)
	}
	for i := range Range(1_000_000) {
		if i == 10 {
			break
		}
	}
	if n := len(*got); n < 10 || n > 100 {
		t.Errorf("%d updates", n)
	}
}
