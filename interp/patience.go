package interp

import (
	"context"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/stack"
)

// How long an interrupted cell may take to end.
//
// On a busy machine a cell may get no CPU time for seconds, and then ends as soon as
// it gets some. So the time of code that runs is CPU time of this process; only for
// a goroutine that is blocked does real time count.

const (
	// giveUpAfter is how long an interrupted cell has to end. Lowered code reaches a
	// check at once, each loop head, function entry and wait being one, so what has
	// not ended by then is in compiled code.
	giveUpAfter = 45 * time.Millisecond
	// endingTakes is how much longer lowered code has, and calls that are deferred.
	endingTakes = 20 * time.Millisecond
	// childTakes is how long a child process has: it is killed after childGrace, and what
	// it writes until then must find its cell.
	childTakes = childGrace + 250*time.Millisecond
	// forever is how long the packages of quern have.
	forever = time.Duration(math.MaxInt64)
	// Between these is the time between two looks at a cell that is awaited.
	shortestPause = 10 * time.Millisecond
	longestPause  = 200 * time.Millisecond
	// insist is how long after the first interrupt another one means that the cell is
	// not to be awaited any more. Two at once are one.
	insist = time.Second
)

// patience is how long an interrupted cell may take to end, given what it does.
func patience(a activity) time.Duration {
	switch {
	case a.function == "" && a.ends:
		return giveUpAfter + endingTakes
	case a.ends:
		return childTakes
	case !a.ends && strings.HasPrefix(a.function, ownPackages) && !strings.Contains(a.function, stack.Interp):
		return forever // they ask at times whether their cell was interrupted
	}
	return giveUpAfter
}

// interruption is how the running cell is interrupted.
type interruption struct {
	cancel context.CancelFunc
	again  chan struct{} // closed by an interrupt of which the cell is not awaited any more

	mu     sync.Mutex
	first  time.Time
	closed bool
}

func (i *interruption) call(now time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.first.IsZero():
		i.first = now
		i.cancel()
	case now.Sub(i.first) >= insist && !i.closed:
		i.closed = true
		close(i.again)
	}
}

// awaitStop waits for the end of an interrupted cell, and goes on without it when
// that does not come.
func (s *Session) awaitStop(m *goroutine.Member, ended <-chan outcome) outcome {
	var again <-chan struct{}
	if i := s.interrupt.Load(); i != nil {
		again = i.again
	}
	c := startClock()
	pause := giveUpAfter // most have ended then, without a look at what they do
	for looks := 1; ; looks++ {
		timer := time.NewTimer(pause)
		select {
		case o := <-ended:
			timer.Stop()
			return o
		case <-again:
			timer.Stop()
			return outcome{err: s.abandon(s.activity(m), ended)}
		case <-timer.C:
		}
		a := s.activity(m)
		c.advance(a.waits)
		rest := s.patience(a) - c.spent
		if rest <= 0 {
			return outcome{err: s.abandon(a, ended)}
		}
		// On a busy machine the rest takes long, and each look stops the cell.
		pause = min(max(rest, time.Duration(looks)*shortestPause), longestPause)
	}
}

// clock measures how long a cell could have run.
type clock struct {
	start time.Time
	spent time.Duration

	last time.Time
	cpu  time.Duration
}

func startClock() *clock {
	now := time.Now()
	cpu, _ := ownCPU()
	return &clock{start: now, last: now, cpu: cpu}
}

// advance counts the time since it was last called: real time if the cell was
// blocked, else as much of it as the process received CPU time.
func (c *clock) advance(blocked bool) {
	now := time.Now()
	cpu, known := ownCPU()
	passed := now.Sub(c.last)
	if !blocked && known {
		passed = min(passed, cpu-c.cpu)
	}
	c.spent += passed
	c.last, c.cpu = now, cpu
}
