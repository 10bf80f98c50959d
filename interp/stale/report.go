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
	cells  []*cell // in order
	uses   map[*cell]map[string]string
	sets   map[*cell][]string // names that a cell defines or changes if it runs again, sorted
	lowest map[string]int     // the greatest place of a cell that uses a name
	needed map[*cell]string   // cells that have to run again so that a cell below gets the value that they set, with the reason
	// changes are the names that stale cells set, with the last one of these above the cell that is examined.
	changes map[string]*cell
}

// Stale returns the stale cells in the order of the notebook.
func (t *Tracker) Stale() []Cell {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := &report{Tracker: t, uses: map[*cell]map[string]string{}, sets: map[*cell][]string{}, lowest: map[string]int{}, needed: map[*cell]string{}}
	r.cells = slices.SortedFunc(maps.Values(t.cells), func(a, b *cell) int { return a.place - b.place })
	declared := map[string]check.Effects{} // by the cells above and this one
	for _, c := range r.cells {
		body := t.body
		if c.named {
			maps.Copy(declared, c.bodies)
			body = func(key string) check.Effects {
				if e, ok := declared[key]; ok {
					return e
				}
				return t.body(key)
			}
		}
		r.uses[c] = t.expand(c.effects, c.defines, body, func(e check.Effects) []string { return e.Uses })
		r.sets[c] = t.sets(c, body)
		for name := range r.uses[c] {
			r.lowest[name] = c.place
		}
	}
	for _, c := range r.cells {
		for _, name := range slices.Sorted(maps.Keys(c.below)) {
			r.need(c, name, fmt.Sprintf("which %s below has changed", check.Filename(c.below[name].number)))
		}
	}
	for {
		list, needed := r.pass(), len(r.needed)
		for _, stale := range list {
			c := r.Tracker.cells[stale.Key]
			for name := range r.uses[c] {
				if by := r.setBelow(c, name); by != nil && c.named {
					r.need(c, name, fmt.Sprintf("which %s below has changed, for %s", check.Filename(by.number), check.Filename(c.number)))
				} else if _, itself := slices.BinarySearch(r.sets[c], name); itself && !r.replaced(c, name) {
					r.need(c, name, fmt.Sprintf("which %s has changed and is stale", check.Filename(c.number)))
				}
			}
		}
		if len(r.needed) == needed {
			return list
		}
	}
}

// replaced reports whether a cell above c has given a name, which c changes, a new value since.
func (r *report) replaced(c *cell, name string) bool {
	n := r.names[name]
	return n != nil && slices.ContainsFunc(n.events, func(e event) bool { return e.whole && e.run > c.run && e.by.place < c.place })
}

// need records that the cells above c that set a name have to run again.
func (r *report) need(c *cell, name, why string) {
	for _, above := range r.cells {
		if c.named && above.named && above.place < c.place && r.needed[above] == "" && slices.Contains(r.sets[above], name) && !r.repeats(above, name) {
			r.needed[above] = fmt.Sprintf("sets %s, %s", name, why)
		}
	}
}

// pass returns the stale cells, given those that are needed.
func (r *report) pass() (list []Cell) {
	r.changes = map[string]*cell{}
	for _, c := range r.cells {
		reason := r.reason(c)
		if reason == "" {
			reason = r.needed[c]
		}
		if reason == "" {
			continue
		}
		list = append(list, Cell{c.key, c.number, c.source, reason})
		for _, name := range r.sets[c] {
			if r.changes[name] != nil || !r.repeats(c, name) {
				r.changes[name] = c
			}
		}
	}
	return list
}

// repeats reports whether a name has the declaration that a cell gives it.
func (r *report) repeats(c *cell, name string) bool {
	text := c.defines[name]
	return text != "" && r.names[name].text == text
}

// sets returns the names that a cell defines or changes if it runs again, sorted.
func (t *Tracker) sets(c *cell, body func(key string) check.Effects) []string {
	set := t.expand(c.effects, nil, body, func(e check.Effects) []string { return e.Changes })
	maps.Copy(set, c.defines)
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
	for _, name := range names {
		if by := c.below[name]; by != nil {
			return fmt.Sprintf("%s, which %s below it had set when it ran", described(name), check.Filename(by.number))
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
	for _, name := range r.sets[c] {
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
