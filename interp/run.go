package interp

import (
	"sync"
	"time"

	"github.com/quernlab/quern/interp/magic"
)

// A run is one execution of a cell. Goroutines that the cell started belong to
// it, also when the cell itself has ended.
type run struct {
	cell    int
	magic   *magic.Run    // its commands; nil without
	stopped chan struct{} // closed by an interrupt
	once    sync.Once

	mu     sync.Mutex
	values []any // its result
	has    bool  // whether it has one
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

func (r *run) stop() { r.once.Do(func() { close(r.stopped) }) }

func (r *run) isStopped() bool {
	select {
	case <-r.stopped:
		return true
	default:
		return false
	}
}

// How an interrupt goes on when the one before did not help.
const (
	// breakAfter is how long lowered code has to reach a check: each loop head
	// and function entry is one, so what has not, waits.
	breakAfter = 20 * time.Millisecond
	// giveUpAfter is how long a function of the standard library has to return
	// once it was interrupted.
	giveUpAfter = 60 * time.Millisecond
	// giveUpWatching is the same for functions that watch ctx from time to time,
	// as those of packages outside of the standard library may, or that wait for
	// the end of an interrupted process.
	giveUpWatching = 400 * time.Millisecond
)

// sleep is time.Sleep for cells: an interrupt ends it.
func (s *Session) sleep(d time.Duration) {
	m := s.members.current()
	switch {
	case m == nil:
		time.Sleep(d)
		return
	case m.raised.Load() != 0:
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
