package kernel

import (
	"context"
	"strings"
	"sync"

	"github.com/quernlab/quern/kernel/wire"
)

// searchHistory answers history_request with history_reply.
func (k *Kernel) searchHistory(_ context.Context, _ *request, in wire.History) (wire.HistoryEntries, error) {
	var entries []wire.HistoryEntry
	switch in.Access {
	case wire.HistoryTail:
		entries = k.history.tail(in.N)
	case wire.HistoryRange:
		entries = k.history.between(in.Session, in.Start, in.Stop)
	case wire.HistorySearch:
		entries = k.history.search(in.Pattern, in.N, in.Unique)
	}
	return wire.NewHistory(entries, in.Output), nil
}

// history holds the cells that have run, oldest first.
type history struct {
	mu      sync.Mutex
	session int // number of this session
	entries []wire.HistoryEntry
}

// maxHistory is how many cells are kept.
const maxHistory = 10_000

func newHistory() *history { return &history{session: 1} }

// add keeps a cell; output is the text of its result.
func (h *history) add(line int, input, output string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.entries) == maxHistory {
		h.entries = h.entries[1:]
	}
	h.entries = append(h.entries, wire.HistoryEntry{Session: h.session, Line: line, Input: input, Output: output})
}

// selected returns the entries for which keep holds.
func (h *history) selected(keep func(wire.HistoryEntry) bool) []wire.HistoryEntry {
	h.mu.Lock()
	defer h.mu.Unlock()
	var found []wire.HistoryEntry
	for _, e := range h.entries {
		if keep(e) {
			found = append(found, e)
		}
	}
	return found
}

// tail returns the last n cells.
func (h *history) tail(n int) []wire.HistoryEntry {
	return last(h.selected(func(wire.HistoryEntry) bool { return true }), n)
}

// between returns the cells of a session from line start to before stop; nil is
// no end. A session that is not above 0 counts back from this one.
func (h *history) between(session, start int, stop *int) []wire.HistoryEntry {
	if session <= 0 {
		session += h.session
	}
	return h.selected(func(e wire.HistoryEntry) bool {
		return e.Session == session && e.Line >= start && (stop == nil || e.Line < *stop)
	})
}

// search returns the last n cells whose input matches a glob; n of 0 is all.
// With unique, only the last of those with the same input.
func (h *history) search(pattern string, n int, unique bool) []wire.HistoryEntry {
	if pattern == "" {
		pattern = "*"
	}
	found := h.selected(func(e wire.HistoryEntry) bool { return matchGlob(pattern, e.Input) })
	if unique {
		found = lastOfEach(found)
	}
	if n > 0 {
		found = last(found, n)
	}
	return found
}

func last(entries []wire.HistoryEntry, n int) []wire.HistoryEntry {
	return entries[max(len(entries)-max(n, 0), 0):]
}

func lastOfEach(entries []wire.HistoryEntry) []wire.HistoryEntry {
	lines := map[string]int{}
	for i, e := range entries {
		lines[e.Input] = i
	}
	var kept []wire.HistoryEntry
	for i, e := range entries {
		if lines[e.Input] == i {
			kept = append(kept, e)
		}
	}
	return kept
}

// matchGlob reports whether the whole of text matches pattern, in which * is
// any text and ? any one character. Its time is bounded by the product of the
// two lengths.
func matchGlob(pattern, text string) bool {
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
