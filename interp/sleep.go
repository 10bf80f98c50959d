package interp

import (
	"context"
	"time"

	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/stack"
)

// sleep is time.Sleep for cells: an interrupt ends it.
func (s *Session) sleep(d time.Duration) {
	m := s.goroutines.Member()
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
		s.goroutines.EndIfStopped(m)
	}
}

// afterFunc is time.AfterFunc for cells.
func (s *Session) afterFunc(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, s.goroutines.Guard(0, f))
}

// afterContext is context.AfterFunc for cells.
func (s *Session) afterContext(ctx context.Context, f func()) (stop func() bool) {
	return context.AfterFunc(ctx, s.goroutines.Guard(0, f))
}
