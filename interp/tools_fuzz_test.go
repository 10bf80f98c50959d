package interp_test

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzTools completes and inspects at any offset of any text. Nothing may panic, and the replaced
// range must contain the offset and lie on character boundaries.
func FuzzTools(f *testing.F) {
	for _, row := range completionRows {
		offset := strings.Index(row.in, "|")
		f.Add(row.in[:offset]+row.in[offset+1:], offset)
	}
	for _, row := range inspectRows {
		offset := strings.Index(row.in, "|")
		f.Add(row.in[:offset]+row.in[offset+1:], offset)
	}
	n := completionNotebook(f)
	f.Fuzz(func(t *testing.T, src string, offset int) {
		start, end, items := n.Complete(src, offset)
		at := min(max(offset, 0), len(src))
		if start < 0 || start > at || end < at || end > len(src) {
			t.Fatalf("%q at %d: replaces %d to %d", src, offset, start, end)
		}
		for _, i := range items {
			if i.Text == "" || i.Kind == "" || !utf8.ValidString(i.Text) || strings.Contains(i.Text, "ʹ") {
				t.Fatalf("%q at %d: proposes %q", src, offset, i)
			}
		}
		if data := n.Inspect(src, offset, 1); data != nil && data["text/plain"] == "" {
			t.Fatalf("%q at %d: describes nothing", src, offset)
		}
		if _, _, items := n.Complete("point.Nor", 9); len(items) != 1 || items[0].Text != "Norm" {
			t.Fatalf("%q at %d spoils the next completion: %q", src, offset, items)
		}
	})
}
