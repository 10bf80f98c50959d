package history

import (
	"fmt"
	"strings"
	"testing"
)

func add(t *testing.T, h *History, line int, input, output string) {
	t.Helper()
	h.Add(line, input, output)
}

func TestHistory(t *testing.T) {
	t.Parallel()
	h := New()
	for i, input := range []string{"a := 1", "b", "a := 1", "fmt", "b"} {
		add(t, h, i+1, input, "")
	}
	stop := 3
	for _, row := range []struct {
		name string
		got  []Entry
		want string // the lines
	}{
		{"tail", h.Tail(2), "4 5"},
		{"tail of more than there are", h.Tail(9), "1 2 3 4 5"},
		{"tail of nothing", h.Tail(0), ""},
		{"tail of less than nothing", h.Tail(-1), ""},
		{"range", h.Range(1, 2, &stop), "2"},
		{"range of this session", h.Range(0, 4, nil), "4 5"},
		{"range of the session before", h.Range(-1, 1, nil), ""},
		{"search", h.Search("a*", 0, false), "1 3"},
		{"search of the last", h.Search("a*", 1, false), "3"},
		{"search of each once", h.Search("*", 0, true), "3 4 5"},
		{"search with a question mark", h.Search("?", 0, false), "2 5"},
		{"search for all", h.Search("", 0, false), "1 2 3 4 5"},
	} {
		var lines []string
		for _, e := range row.got {
			lines = append(lines, fmt.Sprint(e.Line))
		}
		if got := strings.Join(lines, " "); got != row.want {
			t.Errorf("%s: got %s, want %s", row.name, got, row.want)
		}
	}
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	h := New()
	for i := range maxEntries + 5 {
		add(t, h, i, "x", "")
	}
	if got := h.Tail(maxEntries + 5); len(got) != maxEntries || got[0].Line != 5 {
		t.Errorf("%d entries from line %d", len(got), got[0].Line)
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 5000)
	for _, row := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true},
		{"", "x", false},
		{"*", "", true},
		{"x", "x", true},
		{"?", "é", true},
		{"?", "", false},
		{"a*b", "ab", true},
		{"a*b", "aXbXb", true},
		{"a*b", "aXbX", false},
		{"*a*b*", "line\nab", true},
		{"[a]", "a", false}, // only * and ? are special
		{strings.Repeat("a*", 200) + "b", long, false},
	} {
		if got := matches(row.pattern, row.text); got != row.want {
			t.Errorf("%.20q in %.20q: %t, want %t", row.pattern, row.text, got, row.want)
		}
	}
}
