package stale

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/check"
)

// A Cell is a stale cell.
type Cell struct {
	Key    string // for Run.Again
	Number int    // of its last run
	Source string
	Reason string // a predicate: uses mean, which cell[9] has redefined
}

// Line returns the first line of the cell that is not blank.
func (c Cell) Line() string {
	line, _, _ := strings.Cut(strings.TrimSpace(c.Source), "\n")
	return strings.TrimSpace(line)
}

func (c Cell) String() string {
	return fmt.Sprintf("%s %s\n  %s", check.Filename(c.Number), c.Reason, c.Line())
}

// A report finds the stale cells.
type report struct {
	*Tracker
	// changes are the names that the stale cells set, with the last one of these above the cells that follow.
	changes map[string]*cell
	lowest  map[string]int // the greatest place of a cell that uses a name
	uses    map[*cell]map[string]string
}

// Stale returns the stale cells in the order of the notebook.
func (t *Tracker) Stale() []Cell {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := &report{Tracker: t, changes: map[string]*cell{}, lowest: map[string]int{}, uses: map[*cell]map[string]string{}}
	cells := slices.SortedFunc(maps.Values(t.cells), func(a, b *cell) int { return a.place - b.place })
	for _, c := range cells {
		r.uses[c] = t.expand(c.effects, c.defines, func(e check.Effects) []string { return e.Uses })
		for name := range r.uses[c] {
			r.lowest[name] = c.place
		}
	}
	var list []Cell
	for _, c := range cells {
		reason := r.reason(c)
		if reason == "" {
			continue
		}
		list = append(list, Cell{c.key, c.number, c.source, reason})
		for _, name := range r.sets(c) {
			r.changes[name] = c
		}
	}
	return list
}

// sets returns the names that a cell changes if it runs again, sorted.
func (r *report) sets(c *cell) []string {
	set := r.expand(c.effects, nil, func(e check.Effects) []string { return e.Changes })
	for name, text := range c.defines {
		if n := r.names[name]; text == "" || n.text != text {
			set[name] = ""
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// reason returns why a cell is stale; empty if it is not.
func (r *report) reason(c *cell) string {
	uses := r.uses[c]
	names := slices.SortedFunc(maps.Keys(uses), func(a, b string) int {
		if direct := len(uses[a]) == 0; direct != (len(uses[b]) == 0) { // first what the cell itself names
			if direct {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	described := func(name string) string {
		text := "uses " + strings.Replace(name, ".*", "", 1)
		if via := uses[name]; via != "" {
			text += " through " + via
		}
		return text
	}
	for _, name := range names {
		n := r.names[name]
		if n == nil {
			continue
		}
		if n.removed != "" && n.owner != c {
			return described(name) + ", " + n.removed
		}
		if e := r.since(c, n); e != nil {
			if strings.HasSuffix(name, ".*") {
				return fmt.Sprintf("%s, of which %s %s a method", described(name), check.Filename(e.by.number), e.what)
			}
			return fmt.Sprintf("%s, which %s %s", described(name), check.Filename(e.by.number), e.what)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.defines)) {
		if n := r.names[name]; n.owner == c && n.reset {
			return fmt.Sprintf("defined %s, %s", name, n.removed)
		}
	}
	for _, name := range names {
		if other := r.changes[name]; other != nil {
			return fmt.Sprintf("%s of %s, which is stale", described(name), check.Filename(other.number))
		}
	}
	if !c.named {
		return ""
	}
	for _, name := range r.sets(c) {
		if r.lowest[name] <= c.place || r.names[name] == nil {
			continue
		}
		if e := r.since(c, r.names[name]); e != nil && e.by.named {
			return fmt.Sprintf("sets %s, which %s %s", name, check.Filename(e.by.number), e.what)
		}
		if other := r.changes[name]; other != nil && other.named {
			return fmt.Sprintf("sets %s, which %s also sets, and that is stale", name, check.Filename(other.number))
		}
	}
	return ""
}

// since returns the last change of a name by a cell above c since c ran; nil if there is none.
func (r *report) since(c *cell, n *name) (last *event) {
	for i, e := range n.events {
		above := !e.by.named || !c.named || e.by.place < c.place
		if e.by != c && e.run > c.run && above && (last == nil || e.run > last.run) {
			last = &n.events[i]
		}
	}
	return last
}
