package interp

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/stack"
)

// interruptMember ends the calling goroutine if its run was stopped. What its
// deferred calls do then is spared for a while. It does not panic: nothing can
// recover, and the end of a deep recursion takes a time in proportion to its
// depth, not to the square of that.
func (s *Session) interruptMember(m *goroutine.Member) {
	if !m.IsStopped() {
		return
	}
	if m.HasEnded() {
		runtime.Goexit()
	}
	id := stack.ID()
	if !m.BeginEnd(id) {
		return
	}
	if m.Goroutine != 0 && m.Goroutine == id {
		m.Failure = diagnostics.NewInterrupted(s.tracebacks.OwnLines())
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
		r = goroutine.NewRun(cell)
	}
	done := r.Expect()
	return func() {
		defer done()
		defer r.Enter()()
		if r.IsStopped() {
			return // the first check would end it
		}
		s.members.Enter(&goroutine.Member{Run: r})
		defer func() {
			if v := recover(); v != nil && !r.HasEnded() {
				s.reportPanic(r.Cell, v)
				if r.Program {
					r.End(true, panicStatus)
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
func (s *Session) currentRun() *goroutine.Run {
	if m := s.members.Current(); m != nil {
		return m.Run
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
			fmt.Fprintf(s.stderr(cell), "panic in a goroutine of %s with a value that cannot be shown\n", diagnostics.Filename(cell))
		}
	}()
	e := s.reporter.Panic(rt.Recovered(value))
	fmt.Fprintf(s.stderr(cell), "in a goroutine of %s:\n%s\n", diagnostics.Filename(cell), strings.Join(e.Traceback, "\n"))
}
