package interp

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quernlab/quern/interp/rt"
)

// goroutineID is the number of the calling goroutine, which the runtime gives
// only as the first line of a stack trace: "goroutine 7 [running]:".
func goroutineID() uint64 {
	var buf [64]byte
	fields := bytes.Fields(buf[:runtime.Stack(buf[:], false)])
	if len(fields) < 2 {
		return 0
	}
	id, err := strconv.ParseUint(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// A member is a goroutine of a run.
type member struct {
	*run
	goroutine atomic.Uint64 // its number
	raised    atomic.Int64  // when it was interrupted, in Unix nanoseconds; its deferred calls run since
}

// grace is how long the deferred calls of interrupted code may take.
const grace = time.Second

// interrupt ends what the goroutine does, by a panic, if its run was stopped.
// What its deferred calls do then is spared for a while.
func (m *member) interrupt() {
	if !m.isStopped() {
		return
	}
	if at := m.raised.Load(); at == 0 {
		m.raised.Store(time.Now().UnixNano())
	} else if time.Since(time.Unix(0, at)) < grace {
		return
	}
	panic(Interruption{})
}

// goroutines knows which run each goroutine of lowered code belongs to.
type goroutines struct {
	members sync.Map // uint64 to *member
}

func (g *goroutines) enter(m *member) (leave func()) {
	id := goroutineID()
	m.goroutine.Store(id)
	g.members.Store(id, m)
	return func() { g.members.Delete(id) }
}

// current is the calling goroutine, nil for one that compiled code started.
func (g *goroutines) current() *member {
	m, _ := g.members.Load(goroutineID())
	member, _ := m.(*member)
	return member
}

// start is the go statement of a cell.
func (s *Session) start(cell int, f func()) { go s.guard(cell, f)() }

// guard makes f a function that can be the first one of a goroutine: it belongs
// to the run that starts it, and its panic is reported and ends nothing else.
func (s *Session) guard(cell int, f func()) func() {
	r := s.labels.current()
	if r == nil {
		r = s.running.Load()
	}
	if r == nil {
		r = newRun(cell)
	}
	return func() {
		defer s.goroutines.enter(&member{run: r})()
		s.labels.enter(r)
		defer func() {
			if v := recover(); v != nil {
				s.reportPanic(r.cell, v)
			}
		}()
		f()
	}
}

// Guard makes a function that runs f as a part of the cell that calls Guard, on
// whatever goroutine and also after the end of that cell: what f prints belongs
// to the cell, and its panic is reported there and ends nothing else.
func (s *Session) Guard(f func()) func() { return s.guard(s.Cell(), f) }

// afterFunc is time.AfterFunc for cells.
func (s *Session) afterFunc(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, s.guard(0, f))
}

// afterContext is context.AfterFunc for cells.
func (s *Session) afterContext(ctx context.Context, f func()) (stop func() bool) {
	return context.AfterFunc(ctx, s.guard(0, f))
}

func (s *Session) reportPanic(cell int, value any) {
	if _, ok := value.(Interruption); ok {
		return
	}
	// Saying what the value is runs code of the cell.
	defer func() {
		if recover() != nil {
			fmt.Fprintf(s.stderr(cell), "panic in a goroutine of %s with a value that cannot be shown\n", filename(cell))
		}
	}()
	e := s.panicError(rt.Recovered(value), nil)
	fmt.Fprintf(s.stderr(cell), "in a goroutine of %s:\n%s\n", filename(cell), strings.Join(e.Traceback, "\n"))
}
