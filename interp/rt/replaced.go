package rt

import (
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/quernlab/quern/interp/stack"
)

// A deferred call that panics replaces the panic because of which it runs. Go prints all of them when the last one ends the
// program, so each Deferred links the new panic to the one before:
//
//	defer func() { panic("second") }()    panic: first
//	panic("first")                            panic: second
//
// A Deferred that panics again with its value ends, and the next one on the stack recovers only that value. The links pass
// between them through passing, by goroutine. Code in between that recovers the value without a Deferred, such as compiled
// code, leaves an entry behind: it is dropped when its goroutine panics again.

// Raised is a panic that the deferred calls of a goroutine have seen.
type Raised struct {
	// Value is what the panic was raised with, as recover returns it.
	Value any
	// Recovered reports whether the deferred call that replaced the panic had recovered it.
	Recovered bool
	// Again reports whether the panic was raised again with the same value.
	Again bool

	goexit  bool    // a call of runtime.Goexit, which ends a panic and has no value
	earlier *Raised // that this one has replaced
}

// replace makes earlier the panic that p and those before it have replaced.
func (p *Raised) replace(earlier *Raised) {
	for p.earlier != nil {
		p = p.earlier
	}
	p.earlier = earlier
}

// passing has the panics with an earlier one on their way from a Deferred to the next one.
var passing = struct {
	sync.Mutex
	count       atomic.Int64 // the length of byGoroutine
	byGoroutine map[uint64]*Raised
}{byGoroutine: map[uint64]*Raised{}}

// maxPassing is the number of entries above which all are dropped: almost all of them are left behind then.
const maxPassing = 64

// pass keeps p for the next Deferred, or for Replaced.
func (p *Raised) pass() {
	if p == nil || p.earlier == nil {
		return
	}
	id := stack.ID()
	passing.Lock()
	defer passing.Unlock()
	if len(passing.byGoroutine) >= maxPassing {
		clear(passing.byGoroutine)
	}
	passing.byGoroutine[id] = p
	passing.count.Store(int64(len(passing.byGoroutine)))
}

// takePassing removes and returns what pass has kept for the calling goroutine; nil if that is nothing.
func takePassing() *Raised {
	if passing.count.Load() == 0 {
		return nil
	}
	id := stack.ID()
	passing.Lock()
	defer passing.Unlock()
	p := passing.byGoroutine[id]
	delete(passing.byGoroutine, id)
	passing.count.Store(int64(len(passing.byGoroutine)))
	return p
}

// raisedWith returns the panic with a value that recover has returned to Go.
func raisedWith(value any) *Raised {
	return (&Raised{Value: Recovered(value)}).passed()
}

// passed returns p with what pass has kept for it.
func (p *Raised) passed() *Raised {
	if before := takePassing(); before != nil && before.goexit == p.goexit && isSame(before.Value, p.Value) {
		return before
	}
	return p
}

// exited returns the call of runtime.Goexit that is ending the calling goroutine.
func exited() *Raised {
	return (&Raised{goexit: true}).passed()
}

// isSame reports whether a is the value b, or a copy of it.
func isSame(a, b any) bool {
	v := reflect.ValueOf(a)
	if v.IsValid() && !v.Comparable() {
		return reflect.DeepEqual(a, b)
	}
	return isEqual(a, b)
}

// isEqual is a == b, and false if they cannot be compared.
func isEqual(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	return (!x.IsValid() || x.Comparable()) && (!y.IsValid() || y.Comparable()) && a == b
}

// Replaced returns the panics of the calling goroutine of which the last one has the value that recover returned, the earliest
// first: those that it has replaced, and that one. Like Go, it returns a panic that was raised again with its own value only once.
func Replaced(value any) []Raised {
	var all []*Raised
	for p := (&Raised{Value: value}).passed(); p != nil; p = p.earlier {
		all = append(all, p)
	}
	slices.Reverse(all)
	var list []Raised
	for i, p := range all {
		switch {
		case p.goexit:
		case i > 0 && !all[i-1].goexit && isEqual(all[i-1].Value, p.Value):
			list[len(list)-1].Again = true
		default:
			list = append(list, *p)
		}
	}
	return list
}
