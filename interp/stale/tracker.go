package stale

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/quernlab/quern/interp/check"
)

// A Tracker has what the cells of a session use, define and change. It may be used by several goroutines.
type Tracker struct {
	mu    sync.Mutex // guards all fields below, and what they refer to
	runs  int        // number of the last run
	cells map[string]*cell
	names map[string]*name
	texts map[string]*cell // cells without an id, by their source
	// places are those of deleted cells, which may come back.
	places map[string]int
}

// New returns a tracker of a session without cells.
func New() *Tracker {
	return &Tracker{cells: map[string]*cell{}, names: map[string]*name{}, texts: map[string]*cell{}, places: map[string]int{}}
}

// A Run is one run of a cell.
type Run struct {
	ID      string // of the cell in the front end; empty if unknown
	Again   string // Cell.Key, if a stale cell runs again; otherwise empty
	Number  int
	Source  string
	Summary *check.Summary
	// Defined reports whether the run has reached the definition of a variable, with its index in Summary.
	Defined func(i int) bool
	Failed  bool
	Hidden  bool // nobody sees the result
}

// A cell is one that ran.
type cell struct {
	key     string
	named   bool // the front end has sent its id
	place   int  // number of its first run
	run     int  // number of its last run
	number  int
	source  string
	effects check.Effects
	defines map[string]string        // names, with the texts of declarations
	bodies  map[string]check.Effects // of functions that it declares
	changes []string                 // variables that the last run may have changed
	below   map[string]*cell         // names that it used, of which a cell below it had set the value
	owned   int                      // number of names that no other cell has defined since
}

// A name is one of the session. Names of methods are "T.M".
type name struct {
	owner   *cell  // which defined it last; nil if a hidden run did
	text    string // of its declaration, or the path of an import
	effects check.Effects
	events  []event // the last one of each cell with an id, and the last one of those without
	removed string  // why it is no longer defined in the notebook; empty if it is
	reset   bool    // by %reset
}

// An event is a change of a name.
type event struct {
	by   *cell // not in Tracker.cells if the run is hidden
	run  int
	what string // what the cell has done: a predicate
	// whole says that nothing of the value before is left.
	whole bool
}

// What cells do that gives a name a new value.
const (
	redefined = "has redefined"
	setAgain  = "has set again"
)

// maxUnnamed bounds the number of cells without an id.
const maxUnnamed = 1000

// Ran records a run that has ended.
func (t *Tracker) Ran(r Run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs++
	c := t.cellOf(r)
	below := t.fromBelow(c, r.Summary)
	bodies := map[string]check.Effects{}
	defines, unreached := map[string]string{}, map[string]bool{}
	for _, d := range r.Summary.Declared {
		n := t.name(d.Key)
		if d.Known {
			n.effects = d.Effects
			if d.Carried && n.owner != nil {
				n.owner.bodies[d.Key] = d.Effects
			}
		}
		bodies[d.Key] = n.effects
		if d.Carried || d.Text == "" {
			continue
		}
		defines[d.Key] = d.Text
		if n.text != d.Text || n.removed != "" {
			t.changed(c, d.Key, redefined)
			t.forgetMethods(d.Key)
		}
	}
	for i, v := range r.Summary.Variables {
		if r.Defined(i) {
			defines[v] = ""
			if !slices.ContainsFunc(r.Summary.Declared, func(d check.Declared) bool { return d.Key == v }) {
				t.name(v).effects = check.Effects{}
			}
			t.changed(c, v, setAgain)
		} else {
			unreached[v] = true
		}
	}
	for k, path := range r.Summary.Imports {
		if text := "import " + path; t.name(k).text != text {
			defines[k] = text
			t.changed(c, k, "now imports from elsewhere")
		} else if c.defines[k] != "" {
			defines[k] = text
		}
	}
	changes := t.expand(r.Summary.Effects, nil, t.body, func(e check.Effects) []string { return e.Changes })
	for v := range changes {
		if !has(defines, v) && !unreached[v] && t.names[v] != nil {
			t.changed(c, v, "has changed")
		}
	}
	for _, v := range c.changes {
		if !has(changes, v) && t.names[v] != nil {
			t.changed(c, v, "no longer changes")
		}
	}
	for k := range c.defines {
		if n := t.names[k]; n.owner == c && !has(defines, k) {
			n.removed = fmt.Sprintf("which %s no longer defines", check.Filename(r.Number))
		}
	}
	if r.Hidden {
		c = nil
	}
	for k, text := range defines {
		t.own(c, k, text)
	}
	if c == nil {
		return
	}
	if !(r.Failed && r.Again != "") { // otherwise it is still stale
		c.run = t.runs
	}
	if r.Again == "" {
		c.number = r.Number
	}
	c.below, c.bodies = below, bodies
	c.source, c.effects, c.defines, c.changes = r.Source, r.Summary.Effects, defines, slices.Sorted(maps.Keys(changes))
	t.keep(c)
}

// fromBelow returns the names that a cell uses and a cell below it has set last. It is called before the run is recorded.
func (t *Tracker) fromBelow(c *cell, s *check.Summary) map[string]*cell {
	if !c.named {
		return nil
	}
	own := map[string]string{}
	for _, v := range s.Variables {
		own[v] = ""
	}
	below := map[string]*cell{}
	for used := range t.expand(s.Effects, own, t.body, func(e check.Effects) []string { return e.Uses }) {
		if by := t.setBelow(c, used); by != nil {
			below[used] = by
		}
	}
	return below
}

// setBelow returns the cell below c that has set a name last; nil if another one has, or if the last one above c has the same
// declaration.
func (t *Tracker) setBelow(c *cell, key string) *cell {
	n := t.names[key]
	if n == nil || len(n.events) == 0 {
		return nil
	}
	last := slices.MaxFunc(n.events, func(a, b event) int { return a.run - b.run }).by
	if !last.named || last.place <= c.place || t.cells[last.key] != last {
		return nil
	}
	var above *cell
	for _, other := range t.cells {
		if has(other.defines, key) && other.named && other.place < c.place && (above == nil || above.place < other.place) {
			above = other
		}
	}
	if n.text != "" && above != nil && above.defines[key] == n.text {
		return nil
	}
	return last
}

func has[V any](m map[string]V, key string) bool {
	_, ok := m[key]
	return ok
}

// cellOf returns the cell of a run: a new one, unless it has run before.
func (t *Tracker) cellOf(r Run) *cell {
	c := t.cells[r.ID]
	switch {
	case r.Again != "":
		c = t.cells[r.Again]
	case r.ID == "":
		c = t.texts[r.Source]
	}
	if c == nil {
		c = &cell{key: r.ID, named: r.ID != "", place: t.runs, number: r.Number}
		if place, ok := t.places[r.ID]; ok && c.named {
			c.place = place
		}
		if c.key == "" {
			c.key = fmt.Sprint("run ", t.runs)
		}
	}
	if !c.named && r.Again == "" {
		c.place = t.runs
	}
	return c
}

// keep stores a cell, unless it can never be stale.
func (t *Tracker) keep(c *cell) {
	if !c.named {
		if len(c.defines)+len(c.effects.Uses) == 0 {
			return
		}
		t.texts[c.source] = c
		if t.cells[c.key] == nil && len(t.texts) > maxUnnamed {
			oldest := c
			for _, other := range t.texts {
				if other.run < oldest.run {
					oldest = other
				}
			}
			t.forget(oldest)
		}
	}
	t.cells[c.key] = c
}

// forget removes a cell.
func (t *Tracker) forget(c *cell) {
	delete(t.cells, c.key)
	if !c.named && t.texts[c.source] == c {
		delete(t.texts, c.source)
	}
}

func (t *Tracker) name(key string) *name {
	n := t.names[key]
	if n == nil {
		n = &name{}
		t.names[key] = n
	}
	return n
}

// own records that a cell, or a hidden run if it is nil, has defined a name.
func (t *Tracker) own(c *cell, key, text string) {
	n := t.name(key)
	if old := n.owner; old != c && old != nil {
		if old.owned--; old.owned == 0 && !old.named {
			t.forget(old)
		}
	}
	if n.owner != c && c != nil {
		c.owned++
	}
	n.owner, n.text, n.removed, n.reset = c, text, "", false
}

// changed records that a cell has changed a name; for a method, also the methods of its type.
func (t *Tracker) changed(c *cell, key, what string) {
	n := t.name(key)
	i := slices.IndexFunc(n.events, func(e event) bool { return e.by == c || !e.by.named && !c.named })
	if i < 0 {
		i = len(n.events)
		n.events = append(n.events, event{})
	}
	n.events[i] = event{c, t.runs, what, what == setAgain || what == redefined}
	if receiver, _, ok := strings.Cut(key, "."); ok && !strings.HasSuffix(key, ".*") {
		t.changed(c, receiver+".*", what)
	}
}

// forgetMethods forgets the texts of the methods of a type that is redefined: a new type has none.
func (t *Tracker) forgetMethods(key string) {
	if strings.Contains(key, ".") {
		return
	}
	for k, n := range t.names {
		if strings.HasPrefix(k, key+".") {
			n.text = ""
		}
	}
}

// Delete records that the notebook no longer has some cells, by their ids.
func (t *Tracker) Delete(ids []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range ids {
		c := t.cells[id]
		if c == nil {
			continue
		}
		t.runs++
		for k := range c.defines {
			if n := t.names[k]; n.owner == c {
				n.removed = fmt.Sprintf("whose cell, %s, has been deleted", check.Filename(c.number))
			}
		}
		for _, v := range c.changes {
			if n := t.names[v]; n != nil && n.owner != c {
				t.changed(c, v, "had changed before it was deleted")
			}
		}
		t.places[id] = c.place
		t.forget(c)
	}
}

// Reset records that %reset has removed all names.
func (t *Tracker) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range t.names {
		if n.owner != nil {
			n.removed, n.reset, n.text, n.effects = "which %reset has removed", true, "", check.Effects{}
		}
	}
}

// body returns the effects of a function of the session.
func (t *Tracker) body(key string) check.Effects {
	if n := t.names[key]; n != nil {
		return n.effects
	}
	return check.Effects{}
}

// expand returns what choose finds in the effects of code and of the functions that it uses, directly or through others. The
// values are the functions through which a name was found, or "". own are variables that functions do not add. body returns the
// effects of a function.
func (t *Tracker) expand(e check.Effects, own map[string]string, body func(key string) check.Effects, choose func(check.Effects) []string) map[string]string {
	found, seen := map[string]string{}, map[string]bool{}
	for _, name := range choose(e) {
		found[name] = ""
	}
	var follow func(uses []string, through string)
	follow = func(uses []string, through string) {
		for _, use := range uses {
			if seen[use] || t.names[use] == nil {
				continue
			}
			seen[use] = true
			inner := body(use)
			via := through
			if via == "" {
				via = use
			}
			for _, name := range choose(inner) {
				if text, mine := own[name]; has(found, name) || mine && text == "" {
					continue
				}
				found[name] = via
			}
			follow(inner.Uses, via)
		}
	}
	follow(e.Uses, "")
	return found
}
