package history

import (
	"slices"
	"strings"
	"sync"
)

// Entry is a cell that has run.
type Entry struct {
	Session int    `json:"session"`
	Line    int    `json:"line"` // execution count
	Input   string `json:"input"`
	Output  string `json:"output,omitempty"` // text of the result; empty if it had none
}

// The bounds of what is kept.
const (
	maxEntries = 10_000
	maxBytes   = 16 << 20 // bytes of all texts
	maxText    = 64 << 10 // bytes of an input or output; what is longer is cut
)

// History is the cells of this session and of earlier ones, oldest first. Its
// methods may be called from any goroutine.
type History struct {
	keeper *keeper // nil without a file

	mu      sync.Mutex
	entries []Entry // of this session, without its number
	bytes   int     // of their texts
}

// New returns a history in memory.
func New() *History { return &History{} }

// Open returns the history that is kept in a file, which is created if need be with
// its directories. It returns at once. When the file cannot be used, the history
// lives in memory, and failed, which may be nil, is called with the first error.
func Open(path string, failed func(error)) *History {
	return &History{keeper: keep(newFile(path), failed)}
}

// Session is the number of this session. It waits for the file for at most
// [patience]; until the file has been read, or without one, the number is 1.
func (h *History) Session() int {
	if h.keeper == nil {
		return 1
	}
	return h.keeper.number()
}

// Add keeps a cell of this session. It never waits for the file.
func (h *History) Add(line int, input, output string) {
	e := Entry{Line: line, Input: cut(input), Output: cut(output)}
	h.mu.Lock()
	h.entries = append(h.entries, e)
	h.bytes += e.size()
	for len(h.entries) > maxEntries || h.bytes > maxBytes {
		h.bytes -= h.entries[0].size()
		h.entries = h.entries[1:]
	}
	h.mu.Unlock()
	if h.keeper != nil {
		h.keeper.add(e)
	}
}

// Close writes what waits to be written, for at most [patience], and closes the file.
func (h *History) Close() {
	if h.keeper != nil {
		h.keeper.close()
	}
}

// size is the number of bytes of the texts.
func (e Entry) size() int { return len(e.Input) + len(e.Output) }

// cut bounds a text, at a character.
func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "")
}

// all returns the entries of earlier sessions and those of this one. What kernels
// beside this one add is not part of its history.
func (h *History) all() []Entry {
	var earlier []Entry
	if h.keeper != nil {
		earlier = h.keeper.past()
	}
	session := h.Session()
	h.mu.Lock()
	own := slices.Clone(h.entries)
	h.mu.Unlock()
	for i := range own {
		own[i].Session = session
	}
	return last(append(earlier, own...), maxEntries)
}

// selected returns the entries for which wanted holds.
func (h *History) selected(wanted func(Entry) bool) []Entry {
	var found []Entry
	for _, e := range h.all() {
		if wanted(e) {
			found = append(found, e)
		}
	}
	return found
}

// Tail returns the last n cells.
func (h *History) Tail(n int) []Entry {
	return last(h.selected(func(Entry) bool { return true }), n)
}

// Range returns the cells of a session from line start to before stop; nil is
// no end. A session that is not above 0 counts back from this one.
func (h *History) Range(session, start int, stop *int) []Entry {
	if session <= 0 {
		session += h.Session()
	}
	return h.selected(func(e Entry) bool {
		return e.Session == session && e.Line >= start && (stop == nil || e.Line < *stop)
	})
}

// Search returns the last n cells whose whole input matches a glob, in which *
// is any text and ? any one character; n of 0 is all of them. With unique, only
// the last of those with the same input.
func (h *History) Search(pattern string, n int, unique bool) []Entry {
	if pattern == "" {
		pattern = "*"
	}
	found := h.selected(func(e Entry) bool { return matches(pattern, e.Input) })
	if unique {
		found = lastOfEach(found)
	}
	if n > 0 {
		found = last(found, n)
	}
	return found
}

func last(entries []Entry, n int) []Entry {
	return entries[max(len(entries)-max(n, 0), 0):]
}

func lastOfEach(entries []Entry) []Entry {
	at := map[string]int{}
	for i, e := range entries {
		at[e.Input] = i
	}
	var kept []Entry
	for i, e := range entries {
		if at[e.Input] == i {
			kept = append(kept, e)
		}
	}
	return kept
}

// matches reports whether the whole of text matches pattern. Its time is bounded
// by the product of the two lengths.
func matches(pattern, text string) bool {
	p, t := []rune(pattern), []rune(text)
	star, mark := -1, 0 // the last * seen, and where in the text it took up
	i, j := 0, 0
	for j < len(t) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == t[j]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(string(p[i:]), "*") == ""
}
