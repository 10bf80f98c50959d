package goroutine

import (
	"sync"
	"sync/atomic"
)

// calls are the calls in progress of compiled functions that notice when their run is stopped,
// and then soon return what they have, such as accel.Fit. They call functions of cells. While
// there is such a call, the goroutines of a stopped run continue: a function that ended in the
// middle would take the results of the call with it.
type calls struct {
	active atomic.Int64 // calls in progress; 0 once abandoned

	mu        sync.Mutex
	abandoned bool
	returned  map[*func()]bool // called when no call is in progress any more
	unwinding map[uint64]bool  // goroutines whose function has to end; see Unwind
	marks     atomic.Int64     // number of elements of unwinding
}

// BeginCall counts a call that ends with the run, until end is called.
func (r *Run) BeginCall() (end func()) {
	c := &r.calls
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.abandoned {
		return func() {}
	}
	c.active.Add(1)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.abandoned && c.active.Add(-1) == 0 {
			c.report()
		}
	}
}

// IsCalling reports whether such a call is in progress.
func (r *Run) IsCalling() bool { return r.calls.active.Load() > 0 }

// AbandonCalls makes the run continue as if there were no calls.
func (r *Run) AbandonCalls() {
	c := &r.calls
	c.mu.Lock()
	defer c.mu.Unlock()
	c.abandoned = true
	c.active.Store(0)
	c.report()
}

// WhenReturned calls f when no call is in progress: at once, or before the end of the last one,
// unless forget is called. f must not block.
func (r *Run) WhenReturned(f func()) (forget func()) {
	c := &r.calls
	c.mu.Lock()
	defer c.mu.Unlock()
	if !r.IsCalling() {
		f()
		return func() {}
	}
	if c.returned == nil {
		c.returned = map[*func()]bool{}
	}
	c.returned[&f] = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.returned, &f)
	}
}

// report calls the functions of WhenReturned. The caller holds c.mu.
func (c *calls) report() {
	for f := range c.returned {
		(*f)()
	}
	c.returned = nil
}

// Unwind makes the function of the cell end that a call has called on a goroutine.
func (r *Run) Unwind(goroutine uint64) {
	c := &r.calls
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unwinding == nil {
		c.unwinding = map[uint64]bool{}
	}
	c.unwinding[goroutine] = true
	c.marks.Store(int64(len(c.unwinding)))
}

// TakeUnwinding reports, once, whether Unwind was called for the goroutine whose number current
// returns.
func (r *Run) TakeUnwinding(current func() uint64) bool {
	c := &r.calls
	if c.marks.Load() == 0 {
		return false
	}
	id := current()
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.unwinding[id]
	delete(c.unwinding, id)
	c.marks.Store(int64(len(c.unwinding)))
	return found
}
