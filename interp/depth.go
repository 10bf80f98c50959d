package interp

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/stack"
)

// Recursion without end.
//
// The runtime of Go ends a process whose stack is full, and the variables of the
// session with it. So while a cell runs its stacks are watched: when they are
// large, the stop flag goes up, and the function that is entered next on the deep
// one ends its goroutine. Calls pay nothing for that.

const (
	// watchStacks is how often the stacks are looked at. The fastest recursion
	// fills some MB meanwhile.
	watchStacks = 20 * time.Millisecond
	// largeStacks is how much all stacks may hold. Stacks double when they are
	// full: a stack of this size has had 60 000 nested calls of lowered code, at
	// least, and 250 000 at most.
	largeStacks = 256 << 20
	// usualStack is what a goroutine that is not deep may have of it.
	usualStack = 64 << 10
	// deepStack is the number of frames that tells the deep goroutine from others.
	deepStack = 20_000
)

// watch raises the stop flag while stacks are large, until done is closed.
func (s *Session) watch(done <-chan struct{}) {
	ticker := time.NewTicker(watchStacks)
	defer ticker.Stop()
	defer s.setDeep(false)
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			s.setDeep(stacksInUse() > largeStacks+uint64(runtime.NumGoroutine())*usualStack)
		}
	}
}

func stacksInUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func (s *Session) setDeep(deep bool) {
	if s.deep.Swap(deep) == deep {
		return
	}
	s.flag.Lock()
	defer s.flag.Unlock()
	s.raiseFlag()
}

// checkDepth ends the calling goroutine if it is the one whose stack is large.
func (s *Session) checkDepth(m *goroutine.Member) {
	id := stack.ID()
	if m.IsEnding(id) {
		return // its deferred calls
	}
	var caller [1]uintptr
	if runtime.Callers(deepStack, caller[:]) == 0 {
		return
	}
	m.BeginEnd(id)
	e := s.reporter.Overflow()
	if m.Goroutine == id {
		m.Failure = e
	} else {
		fmt.Fprintf(s.stderr(m.Cell), "in a goroutine of %s:\n%s\n", diagnostics.Filename(m.Cell), strings.Join(e.Traceback, "\n"))
	}
	runtime.Goexit()
}
