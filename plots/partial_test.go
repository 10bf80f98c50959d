package plots

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quernlab/quern/display"
)

// A computation longer than a second shows its figure with a bar, and at the end without.
func TestPartial(t *testing.T) {
	t.Setenv(formatEnv, "")
	var texts []string
	previous := display.SetSink(display.SinkFunc(func(m display.Message) {
		if !m.Interim { // whether it is displayed depends on the time
			t.Errorf("a partial figure is a result: %v", m.Data["text/plain"])
		}
		texts = append(texts, m.Data["text/plain"].(string))
	}))
	t.Cleanup(func() { display.SetSink(previous) })
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := NewPartial(ctx, "trials", 8)
		snapshots := 0
		set := func(done float64, figure *Figure) {
			p.Set(done, "width 3", func() func() *Figure { snapshots++; return func() *Figure { return figure } })
			synctest.Wait()
			time.Sleep(time.Second - time.Millisecond)
		}
		so := func() *Figure { return Line("So far", []float64{1, 2}) }
		set(1, so())
		if snapshots > 0 || len(texts) > 0 {
			t.Errorf("within a second: %d snapshots, %q", snapshots, texts)
		}
		time.Sleep(2 * time.Millisecond)
		set(2, nil) // there is nothing to draw
		set(4, so())
		cancel() // the figure stays
		set(5, so())
		if !p.Close(func() *Figure { return Line("All", []float64{1, 2}) }) || !p.Close(so) {
			t.Error("not on the page")
		}
		if snapshots != 3 || len(texts) < 4 {
			t.Fatalf("%d snapshots, %q", snapshots, texts)
		}
		for i, want := range []string{
			"trials [#######.......................] 2/8  00:01, 00:03 left, width 3",
			"trials [###############...............] 4/8  00:02, 00:02 left, width 3",
			"trials [##################............] 5/8  00:02, 00:01 left, width 3",
		} {
			if !strings.Contains(texts[i], want) || (i > 0) != strings.Contains(texts[i], "So far") {
				t.Errorf("figure %d: %q, want %q", i, texts[i], want)
			}
		}
		for _, last := range texts[3:] {
			if !strings.Contains(last, "All") || strings.Contains(last, "trials") {
				t.Errorf("last figure %q", last)
			}
		}
	})
}

func TestPartialOfQuickComputation(t *testing.T) {
	previous := display.SetSink(display.SinkFunc(func(m display.Message) { t.Errorf("shown: %v", m) }))
	t.Cleanup(func() { display.SetSink(previous) })
	synctest.Test(t, func(t *testing.T) {
		figure := func() *Figure { return Line("", nil) }
		p := NewPartial(t.Context(), "trials", 8)
		p.Set(1, "", func() func() *Figure { return figure })
		time.Sleep(time.Second - time.Nanosecond)
		p.Set(2, "", func() func() *Figure { return figure })
		if p.Close(figure) {
			t.Error("on the page")
		}
		time.Sleep(time.Hour)
		var none *Partial
		none.Set(1, "", nil)
		if none.Close(figure) {
			t.Error("nil is on the page")
		}
	})
}
