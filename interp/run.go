package interp

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/quernlab/quern/interp/magic"
	"github.com/quernlab/quern/interp/stack"
)

// A run is one execution of a cell. Goroutines that the cell started belong to
// it, also when the cell itself has ended.
type run struct {
	cell    int
	serial  uint64        // among the runs of cells, from 1; 0 for what belongs to none
	magic   *magic.Run    // its commands; nil without
	stopped chan struct{} // closed by an interrupt
	once    sync.Once
	started atomic.Int64 // its goroutines that run, but for the cell's own
	due     atomic.Int64 // those, the ones that are about to run, and timers that have not fired
	program bool         // the session calls its main
	ended   atomic.Bool  // it is a program that has ended
	exits   bool         // with an exit status, and not with main; set before ended, like the status
	status  int

	mu     sync.Mutex
	values []any            // its result
	has    bool             // whether it has one
	stops  map[*func()]bool // called by stop
}

func newRun(cell int) *run { return &run{cell: cell, stopped: make(chan struct{})} }

func (r *run) setResult(values []any, has bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.values, r.has = values, has
}

func (r *run) result() (values []any, has bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.values, r.has
}

func (r *run) stop() {
	r.once.Do(func() {
		close(r.stopped)
		r.mu.Lock()
		defer r.mu.Unlock()
		for f := range r.stops {
			(*f)()
		}
	})
}

// onStop has an interrupt call f, which does not wait, until forget is called. It
// may call it twice.
func (r *run) onStop(f func()) (forget func()) {
	key := &f
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stops == nil {
		r.stops = map[*func()]bool{}
	}
	r.stops[key] = true
	if r.isStopped() {
		f()
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.stops, key)
	}
}

func (r *run) isStopped() bool {
	select {
	case <-r.stopped:
		return true
	default:
		return false
	}
}

// endRest keeps the stop flag up until the goroutines of an interrupted run have
// seen it. One that waits in compiled code sees it when that returns, if ever, and is
// not waited for.
func (s *Session) endRest(r *run) {
	if r.started.Load() == 0 {
		return
	}
	s.raise()
	go func() {
		defer s.lower()
		c := startClock()
		for pause := lookAgain; c.spent < grace; pause = min(2*pause, 10*lookAgain) {
			if r.started.Load() == 0 || time.Since(c.start) > maxRest {
				return
			}
			time.Sleep(pause)
			c.advance(false)
		}
	}()
}

const (
	// lookAgain is how soon endRest looks for the first time.
	lookAgain = 10 * time.Millisecond
	// maxRest bounds how long endRest looks where the process does nothing.
	maxRest = time.Minute
)

// sleep is time.Sleep for cells: an interrupt ends it.
func (s *Session) sleep(d time.Duration) {
	m := s.members.current()
	switch {
	case m == nil:
		time.Sleep(d)
		return
	case m.isStopped() && m.isEnding(stack.ID()):
		time.Sleep(min(d, grace))
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-m.stopped:
		s.interruptMember(m)
	}
}

// checkStop is what a loop head or a function entry calls once the stop flag is
// up. Goroutines of other cells go on.
func (s *Session) checkStop() {
	m := s.members.current()
	switch {
	case m == nil:
	case m.isStopped():
		s.interruptMember(m)
	case s.deep.Load():
		s.checkDepth(m)
	}
}

// stopped is closed when the run of the calling goroutine is interrupted.
func (s *Session) stopped() <-chan struct{} {
	if m := s.members.current(); m != nil {
		return m.stopped
	}
	return nil
}
