package interp

import (
	"context"
	"sync"
	"time"

	"github.com/quernlab/quern/interp/magic"
)

// An Interruption is the panic value that ends interrupted code. A cell's own
// recover does not see it.
type Interruption struct{}

// Uncatchable keeps a recover from stopping the interruption.
func (Interruption) Uncatchable() {}

func (Interruption) Error() string { return "the cell was interrupted" }

// A run is one execution of a cell. Goroutines that the cell started belong to
// it, also when the cell itself has ended.
type run struct {
	cell    int
	labels  context.Context // what its goroutines are known by; nil if it never ran as a cell
	values  []any           // its result
	has     bool            // whether it has one
	magic   *magic.Run      // its commands; nil without
	stopped chan struct{}   // closed by an interrupt
	once    sync.Once
}

func newRun(cell int) *run { return &run{cell: cell, stopped: make(chan struct{})} }

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
	// giveUpAfter is when compiled code is held to be stuck.
	giveUpAfter = 2 * time.Second
)

// sleep is time.Sleep for cells: an interrupt ends it.
func (s *Session) sleep(d time.Duration) {
	m := s.goroutines.current()
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
		m.interrupt()
	}
}

// checkStop is what a loop head or a function entry calls once the stop flag is
// up. Goroutines of other cells go on.
func (s *Session) checkStop() {
	if m := s.goroutines.current(); m != nil {
		m.interrupt()
	}
}

// stopped is closed when the run of the calling goroutine is interrupted.
func (s *Session) stopped() <-chan struct{} {
	if r := s.labels.current(); r != nil {
		return r.stopped
	}
	return nil
}
