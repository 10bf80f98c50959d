package interp

import (
	"time"

	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/stack"
)

// endRest keeps the stop flag up until the goroutines of an interrupted run have
// seen it. One that waits in compiled code sees it when that returns, if ever, and is
// not waited for.
func (s *Session) endRest(r *goroutine.Run) {
	if !r.IsActive() {
		return
	}
	s.raise()
	go func() {
		defer s.lower()
		c := startClock()
		for pause := lookAgain; c.spent < goroutine.Grace; pause = min(2*pause, 10*lookAgain) {
			if !r.IsActive() || time.Since(c.start) > maxRest {
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
	m := s.members.Current()
	switch {
	case m == nil:
		time.Sleep(d)
		return
	case m.IsStopped() && m.IsEnding(stack.ID()):
		time.Sleep(min(d, goroutine.Grace))
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-m.Stopped():
		s.interruptMember(m)
	}
}

// checkStop is what a loop head or a function entry calls once the stop flag is
// up. Goroutines of other cells go on.
func (s *Session) checkStop() {
	m := s.members.Current()
	switch {
	case m == nil:
	case m.IsStopped():
		s.interruptMember(m)
	case s.deep.Load():
		s.checkDepth(m)
	}
}

// stopped is closed when the run of the calling goroutine is interrupted.
func (s *Session) stopped() <-chan struct{} {
	if m := s.members.Current(); m != nil {
		return m.Stopped()
	}
	return nil
}
