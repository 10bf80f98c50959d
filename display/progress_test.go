package display

import (
	"slices"
	"testing"
	"time"
)

// TestMeter checks that a quick operation displays nothing, and a slow one the remaining time.
func TestMeter(t *testing.T) {
	var got []Message
	previous := SetSink(SinkFunc(func(m Message) { got = append(got, m) }))
	t.Cleanup(func() { SetSink(previous) })
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	m := newMeter("<tries>", 8, func() time.Time { return at })
	m.Set(1, "")
	at = at.Add(999 * time.Millisecond)
	m.Set(2, "")
	if len(got) > 0 {
		t.Fatalf("shown before a second: %v", got)
	}
	at = at.Add(time.Millisecond)
	m.Set(2.5, "batch 64")
	at = at.Add(100 * time.Millisecond) // too soon
	m.Set(3, "")
	at = at.Add(99 * time.Second)
	m.Set(4, "")
	m.End()
	m.End()
	var texts []any
	for _, m := range got {
		if m.ID != got[0].ID {
			t.Error("another output")
		}
		texts = append(texts, m.Data["text/plain"])
	}
	want := []any{
		"<tries> [#########.....................] 2/8  00:01, 00:02 left, batch 64",
		"<tries> [###############...............] 4/8  01:40, 01:40 left",
		"<tries> [###############...............] 4/8  01:40",
	}
	if !slices.Equal(texts, want) {
		t.Errorf("got  %q\nwant %q", texts, want)
	}
	const page = `<div style="font-family: var(--jp-code-font-family, monospace)">&lt;tries&gt; <progress value="0.5" max="1" aria-label="&lt;tries&gt;" style="width: 20em; max-width: 100%; vertical-align: middle"></progress> 4/8  01:40, 01:40 left</div>`
	if h := got[1].Data["text/html"]; h != page {
		t.Errorf("HTML %s", h)
	}
	var none *Meter
	none.Set(1, "")
	none.End()
	quick := newMeter("", 1, func() time.Time { return at })
	quick.Set(1, "")
	quick.End()
	if len(got) != 3 {
		t.Errorf("what was quick is on the page: %v", got[3:])
	}
}
