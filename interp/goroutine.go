package interp

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"sync"
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

// goroutines knows which run each goroutine of lowered code belongs to.
type goroutines struct {
	runs sync.Map // uint64 to *run
}

func (g *goroutines) enter(r *run) (leave func()) {
	id := goroutineID()
	g.runs.Store(id, r)
	return func() { g.runs.Delete(id) }
}

// current is the run of the calling goroutine, nil for one that compiled code
// started.
func (g *goroutines) current() *run {
	r, _ := g.runs.Load(goroutineID())
	run, _ := r.(*run)
	return run
}

// start is the go statement of a cell. A panic is reported and ends only the
// goroutine.
func (s *Session) start(cell int, f func()) {
	r := s.goroutines.current()
	if r == nil || r.cell != cell {
		// Compiled code called a function of a cell, perhaps of an earlier one.
		r = s.runOf(cell, r)
	}
	go func() {
		defer s.goroutines.enter(r)()
		defer func() {
			if v := recover(); v != nil {
				s.reportPanic(cell, v)
			}
		}()
		f()
	}()
}

// runOf is the run that a goroutine belongs to which a go statement of the given
// cell starts: the one that is executing it.
func (s *Session) runOf(cell int, caller *run) *run {
	if caller != nil {
		return caller
	}
	if r := s.running.Load(); r != nil {
		return r
	}
	return newRun(cell)
}

func (s *Session) reportPanic(cell int, value any) {
	if _, ok := value.(Interruption); ok {
		return
	}
	e := s.panicError(cell, value, nil)
	fmt.Fprintf(s.config.stderr, "panic in a goroutine of %s: %s: %s\n", filename(cell), e.Name, e.Value)
	for _, line := range e.Traceback {
		fmt.Fprintln(s.config.stderr, line)
	}
}
