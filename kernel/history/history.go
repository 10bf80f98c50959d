package history

import (
	"slices"
	"strings"
	"sync"
)

// Entry is a cell in the history.
type Entry struct {
	Session int    `json:"session"`
	Line    int    `json:"line"` // execution count
	Input   string `json:"input"`
	Output  string `json:"output,omitempty"` // text of the result; empty if there was none
}

// Limits of the history.
const (
	maxEntries = 10_000
	maxBytes   = 16 << 20 // bytes of all inputs and outputs
	maxText    = 64 << 10 // bytes of an input or output; longer ones are truncated
)

// History contains the cells of this session and of earlier ones, oldest first. Its
// methods may be called from any goroutine.
type History struct {
	writer *writer // nil without a file

	mu      sync.Mutex
	entries []Entry // of this session; Session is not set
	bytes   int     // of their texts
}

// New returns a history in memory.
func New() *History { return &History{} }

// Open returns a history that is stored in a file. It creates the file and its
// directories if necessary. It returns at once. If the file cannot be used, the history
// is kept in memory and failed, which may be nil, is called with the first error.
func Open(path string, failed func(error)) *History {
	return &History{writer: newWriter(newFile(path), failed)}
}

// Session returns the number of this session. It waits for the file for at most
// [timeout]. Until the file has been read, or without one, the number is 1.
func (h *History) Session() int {
	if h.writer == nil {
		return 1
	}
	return h.writer.number()
}

// Add adds a cell of this session. It never waits for the file.
func (h *History) Add(line int, input, output string) {
	e := Entry{Line: line, Input: truncate(input), Output: truncate(output)}
	h.mu.Lock()
	h.entries = append(h.entries, e)
	h.bytes += e.size()
	for len(h.entries) > maxEntries || h.bytes > maxBytes {
		h.bytes -= h.entries[0].size()
		h.entries = h.entries[1:]
	}
	h.mu.Unlock()
	if h.writer != nil {
		h.writer.add(e)
	}
}

// Close writes the queued entries and closes the file. It waits for at most [timeout].
func (h *History) Close() {
	if h.writer != nil {
		h.writer.close()
	}
}

// size returns the number of bytes of input and output.
func (e Entry) size() int { return len(e.Input) + len(e.Output) }

// truncate truncates a text to maxText bytes, at a character boundary.
func truncate(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "")
}

// all returns the entries of earlier sessions and of this one, but not those of
// concurrent sessions.
func (h *History) all() []Entry {
	var earlier []Entry
	if h.writer != nil {
		earlier = h.writer.past()
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

// selected returns the entries for which wanted returns true.
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

// Range returns the cells of a session from line start to before stop; nil means to the
// end. A session number of 0 or less is relative to this session.
func (h *History) Range(session, start int, stop *int) []Entry {
	if session <= 0 {
		session += h.Session()
	}
	return h.selected(func(e Entry) bool {
		return e.Session == session && e.Line >= start && (stop == nil || e.Line < *stop)
	})
}

// Search returns the last n cells whose whole input matches a glob, in which * matches
// any text and ? any character. If n is 0, it returns all of them. If unique is set, only
// the last of several equal inputs is returned.
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

// matches reports whether pattern matches the whole text. Its time is at most
// proportional to the product of the lengths.
func matches(pattern, text string) bool {
	p, t := []rune(pattern), []rune(text)
	star, mark := -1, 0 // index of the last * seen, and where its match begins
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
