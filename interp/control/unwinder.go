package control

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/stack"
)

// Compiled functions such as accel.Fit call functions of cells: a model's Forward, an observer,
// a data source. When the cell is interrupted, its context ends, and Fit returns what it has so
// far at its next step. The functions of the cell must let it: they continue until they return.
// One that takes longer than callTime ends by a panic, up to Fit. What Fit was doing at that
// moment is then lost, but not its results.

// callTime is how long a function of a cell that accel.Fit calls may take to return, from the
// interrupt or its beginning.
const callTime = 250 * time.Millisecond

// Unwound is the value of the panic that ends a function of a cell. Packages of Quern return it
// like the error of a context that is done.
var Unwound error = unwound{}

type unwound struct{}

func (unwound) Error() string { return context.Canceled.Error() }

// Unwrap returns the error of a canceled context.
func (unwound) Unwrap() error { return context.Canceled }

// Uncatchable marks the panic as one that recover in a cell does not return.
func (unwound) Uncatchable() {}

// An unwinder ends functions of cells that were called by a call of a stopped run and take too
// long.
type unwinder struct {
	run    *goroutine.Run
	flag   *StopFlag
	limit  time.Duration
	spells map[uint64]*spell // by goroutine
	raised bool
}

// spell is the time that a goroutine has spent in one function of a cell.
type spell struct {
	callback string
	clock    *clock
}

func (w *Awaiter) newUnwinder(r *goroutine.Run) *unwinder {
	return &unwinder{run: r, flag: w.flag, limit: w.CallTime}
}

// look takes the stacks of all goroutines. It returns after how long it should be called again.
func (u *unwinder) look(stacks []byte) (pause time.Duration) {
	pause = longestPause
	now := map[uint64]*spell{}
	for text := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		text := string(text)
		a := activityOf(text)
		if a.callback == "" || a.isOwn() {
			continue
		}
		id := stack.Goroutine(text)
		s := u.spells[id]
		if s == nil || s.callback != a.callback {
			s = &spell{a.callback, startClock()}
		} else {
			s.clock.advance(stack.IsWaiting(text))
		}
		if s.clock.spent >= u.limit {
			u.run.Unwind(id)
			if !u.raised {
				u.raised = true
				u.flag.Raise()
			}
			s.clock = startClock() // its deferred calls may take as long
		}
		pause = min(pause, max(u.limit-s.clock.spent, shortestPause))
		now[id] = s
	}
	u.spells = now
	return pause
}

// end is called when the unwinder is not needed any more.
func (u *unwinder) end() {
	if u.raised {
		u.flag.Lower()
	}
}

// EndCalls ends functions of cells that keep a call of a stopped run from returning. It returns
// when no call is in progress.
func (w *Awaiter) EndCalls(r *goroutine.Run) {
	u := w.newUnwinder(r)
	defer u.end()
	for pause := firstLook; r.IsCalling(); pause = u.look(stack.All()) {
		time.Sleep(pause)
	}
}

// isCallback reports whether a package of Quern has called the function of a cell that the
// calling goroutine runs.
func isCallback() bool { return activityOf(stack.Own()).callback != "" }

// isOwn reports whether a function belongs to a package of Quern other than the interpreter.
func isOwn(function string) bool {
	return strings.HasPrefix(function, OwnPackages) && !strings.Contains(function, stack.Interp)
}
