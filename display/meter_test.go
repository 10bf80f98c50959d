package display

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// A measured operation inside another one advances the outer bar and has no bar of its own.
func TestMeasureWithin(t *testing.T) {
	var got []string
	previous := SetSink(SinkFunc(func(m Message) { got = append(got, m.Data["text/plain"].(string)) }))
	t.Cleanup(func() { SetSink(previous) })
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	outer := newMeter("report", 4, func() time.Time { return at })
	ctx := context.WithValue(t.Context(), meterKey{}, outer)
	tick := func() { at = at.Add(time.Second) }

	outer.Set(1, "one is done")
	tick()
	inner, ctx := Measure(ctx, "examples", 10)
	inner.Set(5, "half")
	tick()
	innermost, _ := Measure(ctx, "rounds", 2)
	innermost.Set(1, "")
	tick()
	inner.Set(6, "")
	tick()
	inner.Set(10, "") // the step ends with the next one of the whole
	inner.End()
	tick()
	outer.Set(2, "")
	tick()
	outer.End()
	want := []string{
		"report [###########...................] 1/4  00:01, 00:01 left, one is done",
		"report [###########...................] 1/4  00:02, 00:03 left, one is done",
		"report [############..................] 1/4  00:03, 00:04 left, one is done",
		"report [##############................] 1/4  00:04, 00:04 left, one is done",
		"report [###############...............] 2/4  00:05, 00:05 left",
		"report [###############...............] 2/4  00:06",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestUnmeasured(t *testing.T) {
	meter, ctx := Measure(Unmeasured(t.Context()), "examples", 10)
	meter.Set(5, "")
	meter.End()
	if meter != nil || meter.Last() != (Progress{}) {
		t.Errorf("%+v", meter)
	}
	if again, _ := Measure(ctx, "examples", 10); again != nil {
		t.Error("measured within")
	}
	if r := strings.NewReader(""); meter.Reader(r) != io.Reader(r) {
		t.Error("another reader")
	}
}

func TestMeterReader(t *testing.T) {
	m := NewMeter("reading", 3)
	defer m.End()
	if n, err := io.Copy(io.Discard, m.Reader(strings.NewReader(strings.Repeat("x", 1_500_000)))); n != 1_500_000 || err != nil {
		t.Error(n, err)
	}
	if last := m.Last(); last.Done != 1.5 || last.Total != 3 || last.Note != "MB" {
		t.Errorf("%+v", last)
	}
}

// A step that takes long has a bar before it is done, and none afterwards.
func TestMeterOfALongStep(t *testing.T) {
	shown := make(chan string, 10)
	previous := SetSink(SinkFunc(func(m Message) { shown <- m.Data["text/plain"].(string) }))
	t.Cleanup(func() { SetSink(previous) })
	m := NewMeter("reading", 2)
	if text := <-shown; !strings.HasPrefix(text, "reading [....") || !strings.Contains(text, "] 0/2  0") {
		t.Errorf("%q", text)
	}
	m.End()
	if text := <-shown; !strings.HasPrefix(text, "reading [") {
		t.Errorf("%q", text)
	}
	m.showFirst() // as a timer does that could not be stopped any more
	ended := NewMeter("ended", 1)
	ended.End()
	ended.showFirst()
	if len(shown) > 0 {
		t.Errorf("shown after the end: %q", <-shown)
	}
}

func TestMeterWriter(t *testing.T) {
	m := NewMeter("writing", 3)
	defer m.End()
	var b strings.Builder
	text := strings.Repeat("x", 2_500_000)
	if n, err := m.Writer(&b).Write([]byte(text)); n != len(text) || err != nil || b.String() != text {
		t.Error(n, err)
	}
	if last := m.Last(); last.Done != 2.5 || last.Note != "MB" {
		t.Errorf("%+v", last)
	}
	if n, err := m.Writer(&b).Write(nil); n != 0 || err != nil {
		t.Error(n, err)
	}
	var none *Meter
	if w := io.Writer(&b); none.Writer(w) != w {
		t.Error("another writer")
	}
}
