package display

import (
	"strings"
	"testing"
	"time"
)

// The text of a time has no monotonic clock reading.
func TestTimes(t *testing.T) {
	t.Parallel()
	now := time.Now()
	want := now.Round(0).String()
	type event struct {
		At   time.Time
		Name string
	}
	for name, v := range map[string]any{
		"time":            now,
		"struct":          event{now, "a"},
		"pointer":         &event{now, "a"},
		"slice":           []time.Time{now, now},
		"map":             map[string]time.Time{"a": now},
		"slice of any":    []any{1, now},
		"several lines":   []event{{now, strings.Repeat("a", 100)}, {now, "b"}},
		"time in an any":  struct{ X any }{now},
		"time in a table": Table([]event{{now, "a"}}),
	} {
		text, _ := Render(v)
		got, _ := text["text/plain"].(string)
		if !strings.Contains(got, want) || strings.Contains(got, "m=") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got, _ := resultText(withoutMonotonic(now)); got != want {
		t.Errorf("result: %s", got)
	}
	const text = "at 2026-11-22 17:50:08 +0000 UTC m=+1.5"
	if got := Format([]string{text}); got != "["+text+"]" {
		t.Errorf("a text was changed: %s", got)
	}
}
