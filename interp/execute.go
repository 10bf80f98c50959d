package interp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/control"
	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/lower"
	"github.com/quernlab/quern/interp/magic"
	"github.com/quernlab/quern/interp/stack"
)

// Execute runs one cell: all of it is checked before any of it runs, so a cell
// that does not compile changes nothing. Cancelling ctx interrupts the cell, as
// Interrupt does. The error is an *Error.
//
// Cells run one at a time: a second one waits for the first.
func (s *Session) Execute(ctx context.Context, cell int, src string) (Result, error) {
	ctx, done, err := s.begin(ctx)
	if err != nil {
		return Result{}, err
	}
	s.sources.SetText(cell, src)
	var commands *magic.Cell
	checked, unit, err := s.prepare(ctx, cell, func() (_ string, err error) {
		if commands, err = s.commands(ctx, cell, src); err != nil {
			return "", err
		}
		return commands.Source, nil
	})
	if err != nil {
		done()
		return Result{}, s.reporter.Compile(err)
	}
	if err := s.redeclare(unit); err != nil {
		s.program.Discard(unit)
		s.checker.Discard(checked)
		done()
		return Result{}, s.reporter.Compile(err)
	}
	s.commit(checked, unit)
	for _, e := range checked.Broken {
		fmt.Fprintf(s.output.StderrOf(cell), "note: this cell breaks %s\n", brokenNote(e))
	}
	for _, note := range checked.Notes {
		fmt.Fprintf(s.output.StderrOf(cell), "note: %s\n", note)
	}
	r := goroutine.NewRun(cell)
	r.Commands = commands.Run(host{s})
	r.Serial, r.Program = s.runs.Add(1), checked.RunsMain
	if checked.Program {
		s.registrations.NewCommandLine()
	}
	return s.run(ctx, r, unit, func() (Result, error) {
		r.Commands.Stop()
		if err := s.unreadError(checked); err != nil {
			return Result{}, err
		}
		return s.render(r, checked)
	}, func() {
		s.checker.Release(checked)
		s.swept()
		done()
	})
}

// Evaluate gives the value of one expression in the scope of the session. It
// waits for a running cell, and leaves no trace but what the expression does.
func (s *Session) Evaluate(ctx context.Context, expr string) (Result, error) {
	if !isExpression(expr) {
		return Result{}, diagnostics.New(diagnostics.Compile, fmt.Sprintf("%q is not an expression", expr), nil)
	}
	ctx, done, err := s.begin(ctx)
	if err != nil {
		return Result{}, err
	}
	s.sources.SetText(evaluated, expr)
	cell, unit, err := s.prepare(ctx, evaluated, func() (string, error) { return expr, nil })
	if err != nil {
		done()
		return Result{}, s.reporter.Compile(err)
	}
	r := goroutine.NewRun(evaluated)
	return s.run(ctx, r, unit, func() (Result, error) { return s.render(r, cell) }, func() {
		s.program.Discard(unit)
		s.checker.Discard(cell)
		s.swept()
		done()
	})
}

// evaluated is the cell number in positions of an expression that Evaluate runs.
const evaluated = 0

// brokenNote is "g (cell[2]:1:25): not enough arguments in call to f".
func brokenNote(e *check.Error) string {
	name, msg, _ := strings.Cut(e.Msg, ": ")
	return strings.ReplaceAll(fmt.Sprintf("%s (%s): %s", name, e.Pos, msg), "\n", "\n      ")
}

// begin waits until no cell runs. From then on Interrupt cancels the context
// that it returns, until done is called.
func (s *Session) begin(ctx context.Context) (_ context.Context, done func(), err error) {
	select {
	case <-s.executing:
	default:
		select {
		case <-s.executing:
		case <-ctx.Done():
			return nil, nil, diagnostics.New(diagnostics.Interrupted, "the cell before has not ended yet", nil)
		}
	}
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		s.executing <- struct{}{}
		return nil, nil, diagnostics.New(diagnostics.Internal, "the session is closed", nil)
	}
	ctx, cancel := context.WithCancel(ctx)
	s.interrupt.Store(control.NewInterruption(cancel))
	done = func() {
		s.interrupt.Store(nil)
		cancel()
		s.executing <- struct{}{}
	}
	if err := s.finishLeftover(ctx); err != nil {
		done()
		return nil, nil, err
	}
	return ctx, done, nil
}

// outcome is what comes of a cell.
type outcome struct {
	result Result
	err    error
}

// run runs the body of a cell and then after, which gives its result: showing a
// value may run code of cells too. It calls done at the end.
func (s *Session) run(ctx context.Context, r *goroutine.Run, unit *lower.Unit, after func() (Result, error), done func()) (Result, error) {
	goroutine.SetContext(s.context, r)
	s.goroutines.SetRunning(r)
	m := &goroutine.Member{Run: r, Failure: diagnostics.New(diagnostics.Runtime, "runtime.Goexit has ended the cell", nil)}
	started := make(chan struct{})
	ended := make(chan struct{})
	over := make(chan struct{})
	defer close(over)
	go s.flag.WatchStacks(over)
	var returned outcome // of the goroutine, when ended is closed
	go func() {
		defer close(ended)
		completed := false
		defer func() {
			if !completed {
				returned = outcome{err: m.Failure}
			}
		}()
		s.goroutines.Enter(m)
		m.Goroutine = stack.ID()
		close(started)
		returned = s.outcome(r, strings.TrimSuffix(unit.Body, "()"), after)
		completed = true
	}()
	<-started
	var o outcome
	if abandoned := s.wait(ctx, m, ended); abandoned != nil {
		o.err = abandoned
	} else {
		o = returned
	}
	s.goroutines.SetRunning(nil)
	r.SetResult(nil, false) // its goroutines may keep it
	if r.Program && !r.IsStopped() {
		r.End(false, 0)
	}
	if r.IsStopped() {
		s.awaiter.EndGoroutines(r)
	}
	s.flag.SetInterrupted(false)
	s.engine.Forget(unit.Once...)
	done()
	var e *Error
	if r.HasEnded() {
		return outcomeOf(r, o)
	}
	if r.IsStopped() && !(errors.As(o.err, &e) && e.Name == diagnostics.Interrupted) {
		o = outcome{err: diagnostics.NewInterrupted(nil)}
	}
	o.result.Goroutines = r.IsExpecting()
	return o.result, o.err
}

// outcome runs a body and after. It is called by the goroutine of the cell.
func (s *Session) outcome(r *goroutine.Run, body string, after func() (Result, error)) (o outcome) {
	defer func() {
		if v := recover(); v != nil {
			o = outcome{err: diagnostics.New(diagnostics.Panic, fmt.Sprintf("while the result was shown: %v", v), nil)}
		}
	}()
	if err := s.engine.Run(body); err != nil {
		return outcome{err: s.reporter.Run(err)}
	}
	if r.IsStopped() {
		return outcome{err: diagnostics.NewInterrupted(nil)}
	}
	result, err := after()
	return outcome{result, err}
}

// outcomeOf is what becomes of a program that has ended, given that of its main.
func outcomeOf(r *goroutine.Run, main outcome) (Result, error) {
	switch status, exits := r.ExitStatus(); {
	case !exits:
		return main.result, main.err
	case status != 0:
		return Result{}, diagnostics.New(diagnostics.Failed, fmt.Sprintf("exit status %d", status), nil)
	}
	return Result{}, nil
}

// wait waits until ended is closed. When ctx is cancelled it interrupts the cell. The
// error is not nil if the cell is abandoned.
func (s *Session) wait(ctx context.Context, m *goroutine.Member, ended <-chan struct{}) *Error {
	select {
	case <-ended:
		return nil
	case <-m.Stopped(): // one of its goroutines has ended the program
	case <-ctx.Done():
	}
	var again <-chan struct{}
	if i := s.interrupt.Load(); i != nil {
		again = i.Again()
	}
	return s.awaiter.Await(m, ended, again)
}

// Interrupt ends the cell that is running, if any, as soon as its code allows,
// and cancels its ctx. Variables keep their values. A cell that is in accel or in
// another package of quern is awaited: these ask at times whether they are to end. If
// Interrupt is called again a second later or after that, the session goes on
// without such a cell too.
func (s *Session) Interrupt() {
	if i := s.interrupt.Load(); i != nil {
		i.Call(time.Now())
	}
}
