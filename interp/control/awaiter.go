package control

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/stack"
)

// How long an interrupted cell may take to end.
//
// On a busy machine a cell may get no CPU time for seconds, and then ends as soon as it
// gets some. So the CPU time of this process is what counts for code that runs; real time
// counts only for a goroutine that is blocked.

const (
	// stopTime is how long an interrupted cell may take to end. Lowered code reaches a check
	// of the stop flag at once, so a cell that has not ended after this time is in compiled
	// code.
	stopTime = 45 * time.Millisecond
	// deferTime is how much longer lowered code and deferred calls may take.
	deferTime = 20 * time.Millisecond
	// childTime is how long a child process may take: it is killed after ChildGrace, and its
	// output until then belongs to the cell.
	childTime = ChildGrace + 250*time.Millisecond
	// forever is how long the packages of Quern may take.
	forever = time.Duration(math.MaxInt64)
	// shortestPause and longestPause bound the time between two looks at a cell.
	shortestPause = 10 * time.Millisecond
	longestPause  = 200 * time.Millisecond
)

// ChildGrace is how long an interrupted child process may take to end before it is killed,
// with all processes that it has started.
const ChildGrace = time.Second

// OwnPackages begins the paths of the packages of Quern.
const OwnPackages = "github.com/quernlab/quern/"

// An Awaiter waits for the end of interrupted cells.
type Awaiter struct {
	// Patience returns how long an interrupted cell may take to end, given what it does.
	Patience func(Activity) time.Duration
	// CallTime is how long a function of the cell that is called by a function such as
	// accel.Fit may take.
	CallTime time.Duration

	flag *StopFlag
}

// NewAwaiter returns an Awaiter with DefaultPatience.
func NewAwaiter(f *StopFlag) *Awaiter {
	return &Awaiter{Patience: DefaultPatience, CallTime: callTime, flag: f}
}

// DefaultPatience returns the Patience of a new Awaiter.
func DefaultPatience(a Activity) time.Duration {
	switch {
	case a.isOwn():
		return forever // they check for interrupts
	case a.calls && (a.ends || strings.Contains(a.function, stack.Interp)):
		return forever // it continues until they have returned, which the unwinder sees to
	case a.callback != "":
		return callTime + stopTime
	case a.function == "" && a.ends:
		return stopTime + deferTime
	case a.ends:
		return childTime
	}
	return stopTime
}

// Await stops m, the interrupted cell, and waits until ended is closed. It returns nil then.
// If that takes too long, or if again is closed, it abandons the goroutine of the cell: other
// cells run beside it, and if it returns to code of its cell, it ends at the next check. The
// result is the error of the cell.
//
// Child processes are awaited: they are killed after ChildGrace. Calls of functions such as
// accel.Fit are awaited too: only then does code of the cell end.
func (w *Awaiter) Await(m *goroutine.Member, ended, again <-chan struct{}) *diagnostics.Error {
	m.Stop()
	defer m.WhenReturned(func() { w.flag.SetInterrupted(true) })()
	u := w.newUnwinder(m.Run)
	defer u.end()
	c, within := startClock(), ""
	pause := stopTime // most cells have ended then, without a look at what they do
	for looks := 1; ; looks++ {
		timer := time.NewTimer(pause)
		select {
		case <-ended:
			timer.Stop()
			return nil
		case <-again:
			timer.Stop()
			return w.abandon(m, activityIn(stack.All(), m), ended)
		case <-timer.C:
		}
		stacks := stack.All()
		a := activityIn(stacks, m)
		if now := a.within(); now != within { // each call, and each function that it calls, has the whole time
			c, within = startClock(), now
		}
		c.advance(a.waits)
		rest := w.Patience(a) - c.spent
		if rest <= 0 {
			return w.abandon(m, a, ended)
		}
		// On a busy machine the rest takes long, and each look stops the cell.
		pause = min(max(rest, time.Duration(looks)*shortestPause), longestPause)
		if m.IsCalling() {
			pause = min(pause, u.look(stacks))
		}
	}
}

// within identifies the call of a function of Quern's packages in which the cell is, and the
// function of the cell that it has called; "" outside of such calls.
func (a Activity) within() string {
	if a.isOwn() {
		return a.function
	}
	return a.callback
}

// abandon stops waiting for the goroutine of a cell and returns the error of the cell.
func (w *Awaiter) abandon(m *goroutine.Member, a Activity, ended <-chan struct{}) *diagnostics.Error {
	m.AbandonCalls()
	w.flag.Raise()
	go func() {
		<-ended
		w.flag.Lower()
	}()
	what := stack.VisibleName(a.function)
	if a.ends || what == "" { // it is in our code, which ends, or has just ended
		return diagnostics.NewInterrupted(nil)
	}
	e := diagnostics.New(diagnostics.Interrupted, fmt.Sprintf("the cell was interrupted, but %s cannot be stopped "+
		"and goes on in the background; restart the kernel to end it", what), nil)
	e.Stuck = true
	return e
}

const (
	// firstLook is how soon EndGoroutines looks for the first time.
	firstLook = 10 * time.Millisecond
	// longestEnd bounds how long EndGoroutines looks if the process does nothing.
	longestEnd = time.Minute
	// uncounted is how long EndGoroutines keeps the flag up for goroutines that compiled
	// code has started, such as those of a server: nobody counts them.
	uncounted = 50 * time.Millisecond
)

// EndGoroutines keeps the stop flag up until the goroutines of a stopped run have seen it.
// It does not wait. A goroutine in compiled code sees the flag when that returns, if ever,
// and so the flag goes down without it after a while.
func (w *Awaiter) EndGoroutines(r *goroutine.Run) {
	w.flag.Raise()
	go func() {
		defer w.flag.Lower()
		w.EndCalls(r)
		c := startClock()
		for pause := firstLook; c.spent < goroutine.Grace; pause = min(2*pause, 10*firstLook) {
			if c.spent >= uncounted && !r.IsActive() || time.Since(c.start) > longestEnd {
				return
			}
			time.Sleep(pause)
			c.advance(false)
		}
	}()
}

// A clock measures for how long a cell had the chance to run.
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

// advance adds the time since the last call: real time if the cell was blocked, otherwise
// at most the CPU time that the process received.
func (c *clock) advance(blocked bool) {
	passed, cpu := c.tick()
	if !blocked {
		passed = min(passed, cpu)
	}
	c.spent += passed
}

// tick returns the time since the last call, and the CPU time that the process received in it, on all cores.
func (c *clock) tick() (passed, received time.Duration) {
	now := time.Now()
	cpu, known := ownCPU()
	passed, received = now.Sub(c.last), cpu-c.cpu
	if !known {
		received = passed
	}
	c.last, c.cpu = now, cpu
	return passed, received
}

// insist is the time after the first interrupt from which another interrupt makes the session
// stop waiting for the cell. Two interrupts within this time count as one.
const insist = time.Second

// An Interruption receives the interrupts of one cell.
type Interruption struct {
	cancel context.CancelFunc
	again  chan struct{}

	mu     sync.Mutex
	first  time.Time
	closed bool
}

// NewInterruption returns an Interruption whose first interrupt calls cancel.
func NewInterruption(cancel context.CancelFunc) *Interruption {
	return &Interruption{cancel: cancel, again: make(chan struct{})}
}

// Call interrupts the cell.
func (i *Interruption) Call(now time.Time) {
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

// Again returns a channel that is closed by an interrupt after which the session shall not
// wait for the cell any longer.
func (i *Interruption) Again() <-chan struct{} { return i.again }
