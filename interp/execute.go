package interp

import (
	"context"
	"fmt"
	"go/parser"
	"strings"
	"sync/atomic"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/magic"
	"github.com/quernlab/quern/interp/stale"
)

// Execute runs one cell. All of it is checked before any of it runs, so a cell that does not
// compile changes nothing. Canceling ctx interrupts the cell, as Interrupt does. The error
// is an *Error.
//
// A panic in a goroutine of a cell, or in another function that runs beside it, fails the cell that runs, at its end. If
// none runs, it fails the next one: Execute returns the panic, and does not run the cell.
//
// Cells run one at a time: a second one waits for the first.
func (s *Session) Execute(ctx context.Context, cell int, src string, options ...CellOption) (Result, error) {
	var how execution
	for _, o := range options {
		o(&how)
	}
	s.cells.Delete(how.deleted)
	result, runStale, err := s.execute(ctx, cell, src, how)
	if runStale && err == nil {
		return s.runStale(ctx, cell, how)
	}
	return result, err
}

// execute runs one cell. runStale says that the stale cells should run after it. If how.again is set, it runs a stale cell again
// whose output belongs to this one.
func (s *Session) execute(ctx context.Context, cell int, src string, how execution) (_ Result, runStale bool, _ error) {
	ctx, done, err := s.begin(ctx)
	if err != nil {
		return Result{}, false, err
	}
	number := cell
	if how.again != "" {
		number = how.number
	}
	if !how.silent {
		if e := s.goroutines.TakePanic(true); e != nil {
			done()
			return Result{}, false, e
		}
	}
	s.sources.SetText(number, src)
	var commands *magic.Cell
	modules, autoget := s.commands.modules.State(), s.commands.autoget
	c := s.compiler.prepare(ctx, number, func() (_ string, err error) {
		if commands, err = s.commands.parse(ctx, number, src); err != nil {
			return "", err
		}
		return commands.Source, nil
	}, func() {
		s.commands.modules.Restore(modules)
		s.commands.autoget = autoget
	})
	if c.err != nil {
		done()
		return Result{}, false, s.reporter.Compile(c.err)
	}
	s.compiler.linker.redeclare(c.unit)
	unusable := s.compiler.commit(c)
	for _, e := range c.cell.Broken {
		fmt.Fprintf(s.output.StderrOf(cell), "note: this cell breaks %s\n", brokenNote(e))
	}
	for _, note := range c.cell.Notes {
		fmt.Fprintf(s.output.StderrOf(cell), "note: %s\n", note)
	}
	r := goroutine.NewRun(cell)
	var succeeded atomic.Bool
	end := func() {
		s.cells.Ran(stale.Run{
			ID: how.id, Again: how.again, Number: number, Source: src, Summary: c.cell.Summary,
			Defined: func(i int) bool { return r.IsDefined(i) || !c.cell.IsNew(i) },
			Failed:  !succeeded.Load(), Hidden: how.silent || commands.Examines,
		})
		s.compiler.undefine(c.cell, r.IsDefined)
		s.compiler.checker.Release(c.cell)
		s.sweeper.cellEnded()
		done()
	}
	if unusable != nil {
		end()
		e := s.reporter.Compile(unusable)
		e.Name = diagnostics.Runtime // what the cell declares remains
		return Result{}, false, e
	}
	r.Commands = commands.Run(s.commands)
	r.Commands.StepsFrom(how.step)
	r.Attended = how.attended
	r.Serial, r.Program = s.runs.Add(1), c.cell.RunsMain
	if c.cell.Program {
		s.registrations.NewCommandLine()
	}
	result, err := s.executor.run(ctx, r, c.unit, func(failure *Error) (Result, error) {
		if failure != nil {
			return Result{}, s.renderer.withUnread(failure, c.cell)
		}
		r.Commands.Stop()
		if err := s.renderer.unreadError(c.cell); err != nil {
			return Result{}, err
		}
		result, err := s.renderer.render(r, c.cell)
		result.Replacement = r.Commands.Replacement()
		succeeded.Store(err == nil)
		return result, err
	}, end)
	return result, commands.RunStale, err
}

// Panic returns the first panic of a goroutine that has not failed a cell, as an *Error, or nil. The next cell will not fail
// with it. It is for callers that run no further cell, or, if next is true, do not run the next one.
func (s *Session) Panic(ctx context.Context, next bool) error {
	s.goroutines.Settle(ctx)
	if e := s.goroutines.TakePanic(next); e != nil {
		return e
	}
	return nil
}

// Evaluate returns the value of one expression in the scope of the session. It waits for a
// running cell. It changes nothing, apart from what the expression does.
func (s *Session) Evaluate(ctx context.Context, expr string) (Result, error) {
	if _, err := parser.ParseExpr(expr); err != nil {
		return Result{}, diagnostics.New(diagnostics.Compile, fmt.Sprintf("%q is not an expression", expr), nil)
	}
	ctx, done, err := s.begin(ctx)
	if err != nil {
		return Result{}, err
	}
	s.sources.SetText(evaluated, expr)
	c := s.compiler.prepare(ctx, evaluated, func() (string, error) { return expr, nil }, func() {})
	if c.err != nil {
		done()
		return Result{}, s.reporter.Compile(c.err)
	}
	s.compiler.keep(c)
	r := goroutine.NewRun(evaluated)
	return s.executor.run(ctx, r, c.unit, func(failure *Error) (Result, error) {
		if failure != nil {
			return Result{}, failure
		}
		return s.renderer.render(r, c.cell)
	}, func() {
		s.compiler.checker.Discard(c.cell)
		s.sweeper.cellEnded()
		done()
	})
}

// evaluated is the cell number in positions of an expression that Evaluate runs.
const evaluated = 0

// begin waits until no cell is running and no compilation is left. From then on Interrupt
// cancels the context that it returns, until done is called.
func (s *Session) begin(ctx context.Context) (_ context.Context, done func(), err error) {
	ctx, done, err = s.executor.begin(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := s.compiler.finishLeftover(ctx); err != nil {
		done()
		return nil, nil, err
	}
	return ctx, done, nil
}

// brokenNote returns a note such as "g (cell[2]:1:25): not enough arguments in call to f".
func brokenNote(e *check.Error) string {
	name, msg, _ := strings.Cut(e.Msg, ": ")
	return strings.ReplaceAll(fmt.Sprintf("%s (%s): %s", name, e.Pos, msg), "\n", "\n      ")
}
