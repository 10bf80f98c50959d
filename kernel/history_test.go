package kernel

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/quernlab/quern/kernel/wire"
)

func TestHistory(t *testing.T) {
	t.Parallel()
	h := newHistory()
	for i, input := range []string{"a := 1", "b", "a := 1", "fmt", "b"} {
		h.add(i+1, input, "")
	}
	stop := 3
	for _, row := range []struct {
		name string
		got  []wire.HistoryEntry
		want string // the lines
	}{
		{"tail", h.tail(2), "4 5"},
		{"tail of more than there are", h.tail(9), "1 2 3 4 5"},
		{"tail of nothing", h.tail(0), ""},
		{"tail of less than nothing", h.tail(-1), ""},
		{"range", h.between(1, 2, &stop), "2"},
		{"range of this session", h.between(0, 4, nil), "4 5"},
		{"range of the session before", h.between(-1, 1, nil), ""},
		{"search", h.search("a*", 0, false), "1 3"},
		{"search of the last", h.search("a*", 1, false), "3"},
		{"search of each once", h.search("*", 0, true), "3 4 5"},
		{"search with a question mark", h.search("?", 0, false), "2 5"},
		{"search for all", h.search("", 0, false), "1 2 3 4 5"},
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
	h := newHistory()
	for i := range maxHistory + 5 {
		h.add(i, "x", "")
	}
	if got := h.tail(maxHistory + 5); len(got) != maxHistory || got[0].Line != 5 {
		t.Errorf("%d entries from line %d", len(got), got[0].Line)
	}
}

func TestMatchGlob(t *testing.T) {
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
		if got := matchGlob(row.pattern, row.text); got != row.want {
			t.Errorf("%.20q in %.20q: %t, want %t", row.pattern, row.text, got, row.want)
		}
	}
}

func TestParentsAreBounded(t *testing.T) {
	t.Parallel()
	var p parents
	for cell := range maxParents + 5 {
		p.set(cell, []byte("x"))
		p.set(cell, []byte("y"))
	}
	if len(p.byCell) != maxParents || p.get(4) != nil || !reflect.DeepEqual(p.get(5), p.get(maxParents+4)) {
		t.Errorf("%d cells kept", len(p.byCell))
	}
}
