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
	maxText    = 64 << 10 // bytes of an input or output; what is longer is cut
)

// History is the cells of this session and of earlier ones, oldest first. Its
// methods may be called from any goroutine.
type History struct {
	session int

	mu      sync.Mutex
	file    *file   // nil without one
	failed  bool    // Add does not append any more
	entries []Entry // of this session
}

// Session is the number of this session.
func (h *History) Session() int { return h.session }

// Add keeps a cell of this session. The error is that of the file, the first
// time; the cell is kept in memory all the same.
func (h *History) Add(line int, input, output string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := Entry{Session: h.session, Line: line, Input: cut(input), Output: cut(output)}
	h.keep(e)
	if h.file == nil || h.failed {
		return nil
	}
	err := h.file.append(e)
	h.failed = err != nil
	return err
}

// Close lets go of the file.
func (h *History) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.file != nil {
		h.file.close()
		h.file = nil
	}
}

func (h *History) keep(e Entry) {
	if len(h.entries) == maxEntries {
		h.entries = h.entries[1:]
	}
	h.entries = append(h.entries, e)
}

// cut bounds a text, at a character.
func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "")
}

// all are the entries of earlier sessions and those of this one. What kernels
// beside this one add is no part of its history.
func (h *History) all() []Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	entries := slices.Clone(h.entries)
	if h.file != nil {
		entries = append(h.file.past(), entries...)
	}
	return last(entries, maxEntries)
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
		session += h.session
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
