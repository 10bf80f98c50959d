package interp

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/stack"
)

// A member is a goroutine of a run, with those that compiled code starts from it.
type member struct {
	*run
	goroutine uint64 // the number of the cell's own; else 0
	failure   error  // of the cell's own: what it comes to where it does not return

	mu     sync.Mutex
	ending map[uint64]time.Time // its goroutines whose deferred calls run, since when
}

// end says whether a goroutine is to end now, and notes it: its deferred calls run
// then. One of them that takes too long ends as well, and those behind it run.
func (m *member) end(goroutine uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if since, again := m.ending[goroutine]; again && time.Since(since) < grace {
		return false
	}
	if m.ending == nil {
		m.ending = map[uint64]time.Time{}
	}
	m.ending[goroutine] = time.Now()
	return true
}

// isEnding says whether the deferred calls of a goroutine run.
func (m *member) isEnding(goroutine uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.ending[goroutine]
	return ok
}

// grace is how long a deferred call of interrupted code may take.
const grace = time.Second

// interruptMember ends the calling goroutine if its run was stopped. What its
// deferred calls do then is spared for a while. It does not panic: nothing can
// recover, and the end of a deep recursion takes a time in proportion to its
// depth, not to the square of that.
func (s *Session) interruptMember(m *member) {
	if !m.isStopped() {
		return
	}
	if m.hasEnded() {
		runtime.Goexit()
	}
	id := stack.ID()
	if !m.end(id) {
		return
	}
	if m.goroutine != 0 && m.goroutine == id {
		m.failure = newError(nameInterrupted, "the cell was interrupted", s.frames(s.engine.Frames(stack.Own())))
	}
	runtime.Goexit()
}

// start is the go statement of a cell.
func (s *Session) start(cell int, f func()) { go s.guard(cell, f)() }

// guard makes f a function that can be the first one of a goroutine: it belongs
// to the run that starts it, and its panic is reported and ends nothing else.
func (s *Session) guard(cell int, f func()) func() {
	r := s.currentRun()
	if r == nil {
		r = newRun(cell)
	}
	r.due.Add(1)
	var ended sync.Once // a timer may fire again
	return func() {
		defer ended.Do(func() { r.due.Add(-1) })
		r.started.Add(1)
		defer r.started.Add(-1)
		if r.isStopped() {
			return // the first check would end it
		}
		s.members.enter(&member{run: r})
		defer func() {
			if v := recover(); v != nil && !r.hasEnded() {
				s.reportPanic(r.cell, v)
				if r.program {
					r.end(true, panicStatus)
				}
			}
		}()
		f()
	}
}

// panicStatus is the exit status of a program of Go that panics.
const panicStatus = 2

// currentRun is the run that the calling goroutine belongs to; where that is not
// known the one that runs, or nil.
func (s *Session) currentRun() *run {
	if m := s.members.current(); m != nil {
		return m.run
	}
	return s.running.Load()
}

// afterFunc is time.AfterFunc for cells.
func (s *Session) afterFunc(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, s.guard(0, f))
}

// afterContext is context.AfterFunc for cells.
func (s *Session) afterContext(ctx context.Context, f func()) (stop func() bool) {
	return context.AfterFunc(ctx, s.guard(0, f))
}

func (s *Session) reportPanic(cell int, value any) {
	// Saying what the value is runs code of the cell.
	defer func() {
		if recover() != nil {
			fmt.Fprintf(s.stderr(cell), "panic in a goroutine of %s with a value that cannot be shown\n", filename(cell))
		}
	}()
	e := s.panicError(rt.Recovered(value), s.engine.Trace())
	fmt.Fprintf(s.stderr(cell), "in a goroutine of %s:\n%s\n", filename(cell), strings.Join(e.Traceback, "\n"))
}
