package registration

import (
	"runtime"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/quernlab/quern/interp/goroutine"
)

// names has the names that cells have registered, with functions that replace their values.
type names struct {
	runs runs

	mu      sync.Mutex
	entries map[key]*entry
	holders map[any]bool // the weak pointers in entries
}

// runs returns the run that the calling goroutine belongs to, or nil.
type runs interface {
	Run() *goroutine.Run
}

// A key is a registered name. holder is a weak pointer to the value that holds the name, or
// nil for a name of a package.
type key struct {
	kind   string
	holder any
	name   string
}

// An entry has the run that has registered a name, and the replacer of its value.
type entry struct {
	run      uint64
	replacer any
}

// earlier returns the replacer of a name if a run before the caller's has registered it,
// and otherwise nil. The name then belongs to the caller's run.
func (n *names) earlier(k key) any {
	r := n.runs.Run()
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.entries[k]
	if e == nil || r == nil || r.Serial == e.run {
		return nil
	}
	e.run = r.Serial
	return e.replacer
}

// remove removes a name that an earlier run than the caller's has registered. It returns
// false if there is none.
func (n *names) remove(k key) bool {
	r := n.runs.Run()
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.entries[k]
	if e == nil || r == nil || r.Serial == e.run {
		return false
	}
	delete(n.entries, k)
	return true
}

// add records that the caller's run has registered a name.
func (n *names) add(k key, replacer any) {
	r := n.runs.Run()
	if r == nil || r.Serial == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.entries[k] = &entry{r.Serial, replacer}
}

// within returns the key of a name that is registered with holder. Its entry is removed when
// holder is collected.
func within[T any](n *names, kind string, holder *T, name string) key {
	pointer := weak.Make(holder)
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.holders[pointer] && holder != nil {
		n.holders[pointer] = true
		runtime.AddCleanup(holder, n.forget, any(pointer))
	}
	return key{kind, pointer, name}
}

// forget removes the entries of a holder.
func (n *names) forget(holder any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.holders, holder)
	for k := range n.entries {
		if k.holder == holder {
			delete(n.entries, k)
		}
	}
}

// replaceable registers v: it calls add with a function that returns the current value. If
// an earlier run has registered the name, it only replaces the current value.
func replaceable[T any](n *names, k key, v T, add func(current func() T)) {
	if replacer, ok := n.earlier(k).(*atomic.Pointer[T]); ok {
		replacer.Store(&v)
		return
	}
	replacer := &atomic.Pointer[T]{}
	replacer.Store(&v)
	add(func() T { return *replacer.Load() })
	n.add(k, replacer)
}
