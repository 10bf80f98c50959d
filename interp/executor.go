package interp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/quernlab/quern/interp/control"
	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/lower"
	"github.com/quernlab/quern/interp/stack"
	"github.com/quernlab/quern/interp/yaegi"
)

// An executor runs compiled cells, one at a time.
type executor struct {
	awaiter   *control.Awaiter
	deadlocks *control.DeadlockWatch
	stderr    func(cell int) io.Writer

	goroutines *control.Goroutines
	flag       *control.StopFlag
	reporter   *diagnostics.Reporter
	forget     func() // drops what evaluations have left

	ctx       *context.Context                     // the variable ctx of cells
	executing chan struct{}                        // has an element while no cell is running
	interrupt atomic.Pointer[control.Interruption] // of the running cell
	closed    atomic.Bool
}

// newExecutor returns an executor that runs no cells before start is called.
func newExecutor(g *control.Goroutines, f *control.StopFlag, r *diagnostics.Reporter, forget func(), stderr func(cell int) io.Writer) *executor {
	return &executor{awaiter: control.NewAwaiter(f), deadlocks: control.NewDeadlockWatch(g), stderr: stderr, goroutines: g, flag: f, reporter: r, forget: forget, executing: make(chan struct{}, 1)}
}

// start lets cells run. ctx is the variable ctx of cells.
func (x *executor) start(ctx *context.Context) {
	x.ctx = ctx
	x.executing <- struct{}{}
}

// begin waits until no cell is running. From then on stop cancels the context that it
// returns, until done is called.
func (x *executor) begin(ctx context.Context) (_ context.Context, done func(), err error) {
	select {
	case <-x.executing:
	default:
		select {
		case <-x.executing:
		case <-ctx.Done():
			return nil, nil, diagnostics.New(diagnostics.Interrupted, "the cell was interrupted before it ran: the previous cell has not ended", nil)
		}
	}
	if x.closed.Load() {
		x.executing <- struct{}{}
		return nil, nil, diagnostics.New(diagnostics.Internal, "the session is closed", nil)
	}
	ctx, cancel := context.WithCancel(ctx)
	x.interrupt.Store(control.NewInterruption(cancel))
	return ctx, func() {
		x.interrupt.Store(nil)
		cancel()
		x.executing <- struct{}{}
	}, nil
}

// isIdle reports whether no cell is running.
func (x *executor) isIdle() bool { return len(x.executing) > 0 }

// stop interrupts the running cell, if any.
func (x *executor) stop() {
	if i := x.interrupt.Load(); i != nil {
		i.Call(time.Now())
	}
}

// close prevents further cells from running and interrupts the running one. It calls free
// unless a cell is running.
func (x *executor) close(free func()) {
	x.closed.Store(true)
	x.stop()
	select {
	case <-x.executing:
		free()
		x.executing <- struct{}{}
	default:
	}
}

// outcome is the result of a cell.
type outcome struct {
	result   Result
	err      error
	deadlock *Error // that has ended the cell
}

// run runs the body of a cell and then after, which returns the result. If the body fails, it calls after with the
// failure, and otherwise with nil. Both run on a goroutine of the cell, since showing a value may run code of cells too. It
// calls done at the end.
func (x *executor) run(ctx context.Context, r *goroutine.Run, unit *lower.Unit, after func(failure *Error) (Result, error), done func()) (Result, error) {
	goroutine.SetContext(x.ctx, r)
	x.goroutines.SetRunning(r)
	m := &goroutine.Member{Run: r}
	started := make(chan struct{})
	ended := make(chan struct{})
	over := make(chan struct{})
	defer close(over)
	go x.flag.WatchStacks(over)
	var returned outcome // may be read once ended is closed
	go func() {
		defer close(ended)
		var failed error
		completed := false
		defer func() {
			if !completed {
				returned = outcome{err: x.exited(m, failed)}
			}
		}()
		x.goroutines.Enter(m)
		m.Goroutine = stack.ID()
		close(started)
		returned = x.call(r, unit, &failed, after)
		completed = true
	}()
	<-started
	var o outcome
	abandoned, deadlock := x.wait(ctx, m, ended)
	if abandoned != nil {
		o.err = abandoned
	} else {
		o = returned
	}
	o.deadlock = deadlock
	if !r.IsStopped() {
		x.goroutines.Settle(ctx)
	}
	x.goroutines.SetRunning(nil)
	r.SetResult(nil, false) // goroutines of the cell may keep the run alive
	if r.Program && !r.IsStopped() {
		r.End(false, 0)
	}
	if r.IsStopped() {
		x.awaiter.EndGoroutines(r)
	}
	x.flag.SetInterrupted(false)
	x.forget()
	o = x.judge(r, o)
	done()
	return o.result, o.err
}

// judge returns the outcome of a run that has ended, given that of the cell's own goroutine.
func (x *executor) judge(r *goroutine.Run, o outcome) outcome {
	var e *Error
	switch {
	case o.deadlock != nil:
		if err := x.goroutines.EndCell(r.Cell, nil); err != nil {
			return outcome{err: err} // it may be the cause
		}
		o = outcome{err: o.deadlock}
	case r.HasEnded():
		o.result, o.err = ofProgram(r, o)
	case r.IsStopped() && !(errors.As(o.err, &e) && e.Name == diagnostics.Interrupted):
		o = outcome{err: diagnostics.NewInterrupted(nil)}
	}
	if r.Serial > 0 {
		if err := x.goroutines.EndCell(r.Cell, o.err); err != nil {
			o = outcome{err: err}
		}
	}
	if !r.HasEnded() {
		o.result.Goroutines = r.IsExpecting()
	}
	return o
}

// exited returns the error of a cell whose goroutine, the calling one, ends without a return of its body. failed is the panic of
// a deferred call that ran because of that; nil if there is none.
func (x *executor) exited(m *goroutine.Member, failed error) error {
	switch {
	case m.Failure != nil:
		return m.Failure
	case failed != nil:
		return x.reporter.Run(failed)
	}
	return diagnostics.New(diagnostics.Runtime, "the cell has called runtime.Goexit", nil)
}

// call runs a body, whose error it stores in failed, and then after. The goroutine of the cell calls it.
func (x *executor) call(r *goroutine.Run, unit *lower.Unit, failed *error, after func(failure *Error) (Result, error)) (o outcome) {
	defer func() {
		if v := recover(); v != nil {
			o = outcome{err: diagnostics.New(diagnostics.Panic, fmt.Sprintf("while showing the result: %v", v), nil)}
		}
	}()
	yaegi.Run(unit.Statements(), failed)
	if err := *failed; err != nil && !diagnostics.IsEndOfCell(err) {
		failure := x.reporter.Run(err)
		if r.IsStopped() {
			return outcome{err: failure}
		}
		_, err := after(failure)
		return outcome{err: err}
	}
	if r.IsStopped() {
		return outcome{err: diagnostics.NewInterrupted(nil)}
	}
	result, err := after(nil)
	return outcome{result: result, err: err}
}

// wait waits until ended is closed. If ctx ends first, or the cell is in a deadlock that nobody can end, it interrupts the
// cell. abandoned is not nil if the cell is abandoned.
func (x *executor) wait(ctx context.Context, m *goroutine.Member, ended <-chan struct{}) (abandoned, deadlock *Error) {
	ticks, stop := x.deadlocks.Ticks()
	defer stop()
	look, noted := x.deadlocks.Begin(m.Goroutine, m.Attended), ""
	for waiting := true; waiting; {
		select {
		case <-ended:
			return nil, nil
		case <-m.Stopped(): // one of its goroutines has ended the program
			waiting = false
		case <-ctx.Done():
			waiting = false
		case <-ticks:
			deadlock = x.report(m.Run, look, &noted)
			waiting = deadlock == nil
		}
	}
	var again <-chan struct{}
	if i := x.interrupt.Load(); i != nil {
		again = i.Again()
	}
	return x.awaiter.Await(m, ended, again), deadlock
}

// report looks whether a cell is in a deadlock. It returns the error that ends the cell, unless a person can do that, and none of
// its goroutines has panicked. Then it writes a note, unless that is the last one, noted: on a busy machine the cell may
// seem to go on in between.
func (x *executor) report(r *goroutine.Run, look func() []diagnostics.Waiting, noted *string) *Error {
	if r.Serial == 0 {
		return nil
	}
	waiting := look()
	if waiting == nil {
		return nil
	}
	e := x.reporter.Deadlock(waiting)
	if !r.Attended || x.goroutines.HasPanicked(r.Cell) {
		return e
	}
	if text := strings.Join(e.Traceback, "\n"); text != *noted {
		fmt.Fprintf(x.stderr(r.Cell), "note: interrupt the cell, nothing can wake it:\n%s\n", text)
		*noted = text
	}
	return nil
}

// ofProgram returns the result of a cell whose program has ended, given the outcome of main.
func ofProgram(r *goroutine.Run, main outcome) (Result, error) {
	switch status, exits := r.ExitStatus(); {
	case !exits:
		return main.result, main.err
	case status != 0:
		return Result{}, diagnostics.New(diagnostics.Failed, fmt.Sprintf("exit status %d", status), nil)
	}
	return Result{}, nil
}
