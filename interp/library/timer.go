package library

import (
	"context"
	"reflect"
	"runtime"
	"time"

	"github.com/quernlab/quern/interp/generic/compiled"
	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/stack"
)

// timers implements time.Sleep, and functions that call a function of a cell later.
type timers struct {
	goroutines Goroutines
	values     Values
}

func (t *timers) functions() Packages {
	return Packages{
		"time/time":       functionsOf(map[string]any{"Sleep": t.sleep, "AfterFunc": t.afterFunc}),
		"context/context": functionsOf(map[string]any{"AfterFunc": t.afterContext}),
		"runtime/runtime": functionsOf(map[string]any{"SetFinalizer": t.setFinalizer}),
		"github.com/quernlab/quern/interp/generic/compiled/compiled": functionsOf(map[string]any{"AddCleanup": t.addCleanup}),
	}
}

// sleep is time.Sleep. An interrupt ends it early.
func (t *timers) sleep(d time.Duration) {
	m := t.goroutines.Member()
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
	stopped := m.Stopped()
	var again <-chan time.Time
	for {
		select {
		case <-timer.C:
			return
		case <-stopped:
		case <-again:
		}
		// It may continue for now, for example because accel.Fit is about to return.
		t.goroutines.EndIfStopped(m)
		stopped, again = nil, time.After(stopRetryInterval)
	}
}

// stopRetryInterval is how long sleep continues before it checks again whether it must end.
const stopRetryInterval = 50 * time.Millisecond

// afterFunc is time.AfterFunc.
func (t *timers) afterFunc(d time.Duration, f func()) *time.Timer {
	timer := time.AfterFunc(d, t.goroutines.Guard(0, f))
	t.goroutines.AddTimer(timer)
	return timer
}

// afterContext is context.AfterFunc.
func (t *timers) afterContext(ctx context.Context, f func()) (stop func() bool) {
	return context.AfterFunc(ctx, t.goroutines.Guard(0, f))
}

// setFinalizer is runtime.SetFinalizer: the finalizer belongs to the cell that runs when it
// is called.
func (t *timers) setFinalizer(x, f any) {
	t.values.SetFinalizer(x, f, func(finalize func()) { apart(t.goroutines.Guard(0, finalize)) })
}

// addCleanup is runtime.AddCleanup: the cleanup belongs to the cell that runs when it is called.
func (t *timers) addCleanup(pointer reflect.Value, cleanup func()) runtime.Cleanup {
	cleanup = t.goroutines.Guard(0, cleanup)
	return compiled.AddCleanup(pointer, func() { apart(cleanup) })
}

// apart calls f in a goroutine of its own and waits for its end. A goroutine of the runtime must not belong to a cell, as it would after
// the call of a guarded function: it calls those of other cells later, too, and must not end together with one of them.
func apart(f func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f()
	}()
	<-ended
}
