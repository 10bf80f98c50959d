package goroutine

import (
	"sync"
	"sync/atomic"

	"github.com/quernlab/quern/interp/magic"
)

// A Run is one execution of a cell. Goroutines that the cell starts belong to it, also
// after the cell has ended.
type Run struct {
	// Cell is the number of the cell, 0 for code that belongs to none.
	Cell int
	// Serial counts the runs of cells from 1; it is 0 for runs that belong to no cell.
	Serial uint64
	// Commands are the magic commands of the cell, or nil.
	Commands *magic.Run
	// Program is true if the cell is a program, whose main the session calls.
	Program bool

	// Attended is true if a person sees the cell run, and can interrupt it.
	Attended bool

	stopped chan struct{} // closed by an interrupt, and by the end of a program
	once    sync.Once
	active  atomic.Int64 // goroutines that run, except the cell's own
	pending atomic.Int64 // goroutines that run or are about to run, and timers that have not fired
	ended   atomic.Bool  // it is a program that has ended
	exits   bool         // the program ended with an exit status, not by main returning; set before ended
	status  int          // set before ended

	mu     sync.Mutex
	values []any            // the result
	has    bool             // whether there is a result
	stops  map[*func()]bool // called by Stop
	// defined has the indices of the variables that the cell has defined.
	defined map[int]bool

	calls calls
}

// NewRun returns a run of a cell that has not begun.
func NewRun(cell int) *Run { return &Run{Cell: cell, stopped: make(chan struct{})} }

// SetResult sets the values of the last expression of the cell. has is false if there
// are none.
func (r *Run) SetResult(values []any, has bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.values, r.has = values, has
}

// Result returns what SetResult has set.
func (r *Run) Result() (values []any, has bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.values, r.has
}

// Define records that the cell has defined the variables with some indices.
func (r *Run) Define(vars []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.defined == nil {
		r.defined = map[int]bool{}
	}
	for _, i := range vars {
		r.defined[i] = true
	}
}

// IsDefined reports whether the cell has defined the variable with an index.
func (r *Run) IsDefined(i int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.defined[i]
}

// Stop marks the run as stopped and calls the functions of OnStop. Lowered code ends at
// its next check.
func (r *Run) Stop() {
	r.once.Do(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for f := range r.stops {
			(*f)()
		}
		close(r.stopped) // code that waits for it finds that the functions were called
	})
}

// OnStop makes Stop call f until forget is called. f must not block, and may be called
// twice. If the run is stopped already, OnStop calls f.
func (r *Run) OnStop(f func()) (forget func()) {
	key := &f
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stops == nil {
		r.stops = map[*func()]bool{}
	}
	r.stops[key] = true
	if r.IsStopped() {
		f()
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.stops, key)
	}
}

// IsStopped reports whether Stop has been called.
func (r *Run) IsStopped() bool {
	select {
	case <-r.stopped:
		return true
	default:
		return false
	}
}

// Stopped returns a channel that Stop closes.
func (r *Run) Stopped() <-chan struct{} { return r.stopped }

// End ends a program, because main has returned or with an exit status, and stops its
// goroutines. Only the first End counts.
func (r *Run) End(exits bool, status int) {
	r.mu.Lock()
	if !r.HasEnded() {
		r.exits, r.status = exits, status
		r.ended.Store(true)
	}
	r.mu.Unlock()
	r.AbandonCalls()
	r.Stop()
}

// HasEnded reports whether the run is a program that has ended, and not by an interrupt.
func (r *Run) HasEnded() bool { return r.ended.Load() }

// ExitStatus returns the exit status of a program that has ended; exits is false if main
// has returned.
func (r *Run) ExitStatus() (status int, exits bool) { return r.status, r.exits }

// Expect counts a goroutine or a timer of the run that is about to run, until done is
// called. A second call of done does nothing: a timer may fire again.
func (r *Run) Expect() (done func()) {
	r.pending.Add(1)
	return sync.OnceFunc(func() { r.pending.Add(-1) })
}

// IsExpecting reports whether goroutines or timers of the run are left.
func (r *Run) IsExpecting() bool { return r.pending.Load() > 0 }

// Enter counts a goroutine of the run that runs, until leave is called.
func (r *Run) Enter() (leave func()) {
	r.active.Add(1)
	return func() { r.active.Add(-1) }
}

// IsActive reports whether goroutines of the run are running, apart from the cell's own.
func (r *Run) IsActive() bool { return r.active.Load() > 0 }
