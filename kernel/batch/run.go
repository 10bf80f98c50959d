package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/notebook"
	"github.com/quernlab/quern/kernel/ranks"
	"github.com/quernlab/quern/kernel/worker"
)

// Config configures Run.
type Config struct {
	// WorkerCommand is the program that runs as worker, with its arguments.
	WorkerCommand []string
	// Folder is the absolute path of the folder in which the cells run; empty is that of
	// this process.
	Folder string
	// Stdout and Stderr receive the output of the cells as it is produced. Results and
	// displays are written as text to Stdout, errors of cells to Stderr.
	Stdout, Stderr io.Writer
	// Color reports whether Stderr supports ANSI colors.
	Color bool
	// Stdin is the standard input of the cells; nil is empty.
	Stdin io.Reader
	// Timeout is how long a cell may run; 0 means no limit.
	Timeout time.Duration
	// Limit is how long all cells together may run; 0 means no limit.
	Limit time.Duration
	// Grace is how long an interrupted cell has to end; 0 means 5 seconds.
	Grace time.Duration
	// KeepGoing runs the cells after one that fails, too. Run then returns the errors of all cells
	// that fail.
	KeepGoing bool
	// Ended is called when a cell that ran has ended, with its index from 1; err is a
	// *CellError if it failed and may not, or another error. It is called again, with no
	// time, for a cell of which a goroutine panics after the last cell. May be nil.
	Ended func(cell int, took time.Duration, err error)
	// Logger receives the log of the supervisor; nil discards it.
	Logger *slog.Logger
}

// CellError reports the cell that failed.
type CellError struct {
	Cell int // its number, as notebook.Numbers has it
	// Why is the error that the notebook shows.
	Why *link.CellError
	// stuck means that the cell could not be stopped.
	stuck bool
}

func (e *CellError) Error() string {
	why, _, _ := strings.Cut(e.Why.Error(), "\n") // the other lines are in the traceback
	return fmt.Sprintf("cell %d failed: %s", e.Cell, Plain(why))
}

// Unwrap returns the error of the cell.
func (e *CellError) Unwrap() error { return e.Why }

// Time for an interrupted cell to end unless Config.Grace is set, and for a worker.
const (
	defaultGrace = 5 * time.Second
	endWait      = 3 * time.Second
)

// Run executes the code cells of a notebook in order and stores their outputs in it. It
// stops at the first cell that fails and returns a *CellError, unless KeepGoing is set or the cell has the
// tag raises-exception. A cell with the tag skip-execution does not run. If ctx ends or a
// cell exceeds Timeout, the running cell is interrupted and counts as failed whatever its
// tags. A goroutine that panics after its cell has ended fails the next cell, or the run
// at its end, whatever the tags, and so does a worker that ends between cells. The outputs of the cells after a failed one are removed. A cell such as fmt? asks
// for help, which is stored as a display.
func Run(ctx context.Context, n *notebook.Notebook, config Config) error {
	log := config.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	for _, c := range n.Cells {
		c.Outputs, c.Count = nil, 0
	}
	if config.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, config.Limit, limitError(config.Limit))
		defer cancel()
	}
	page := newRecorder(n, config.Stdout, config.Stderr)
	page.input, page.color, page.grace = newInput(config.Stdin), config.Color, cmp.Or(config.Grace, defaultGrace)
	workers := ranks.New(worker.Program(config.WorkerCommand, config.Folder), page, log)
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWait)
		defer cancel()
		if err := workers.Shutdown(end); err != nil {
			log.Warn("worker shut down", "error", err)
		}
		page.finish()
	}()
	numbers, last := n.Numbers(), -1 // index of the last cell that ran
	var failed []error
	for i, c := range n.Cells {
		if !Runs(c) {
			continue
		}
		last = i
		begin := time.Now()
		err := page.run(ctx, workers, config.Timeout, numbers[i], c)
		if config.Ended != nil {
			config.Ended(i+1, time.Since(begin), err)
		}
		if err == nil {
			continue
		}
		failed = append(failed, err)
		if !config.KeepGoing || ends(ctx, err) {
			break
		}
	}
	if last >= 0 && (len(failed) == 0 || config.KeepGoing && !ends(ctx, failed[len(failed)-1])) {
		index, err := page.lastPanic(ctx, workers)
		if why := page.workerEnded(); why != nil {
			page.end(numbers[last], link.Result{Error: why})
			index, err = last+1, &CellError{Cell: numbers[last], Why: why}
		}
		if err != nil && config.Ended != nil && index > 0 {
			config.Ended(index, 0, err)
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) == 1 {
		return failed[0]
	}
	return errors.Join(failed...)
}

// ends reports whether no cell can run after an error.
func ends(ctx context.Context, err error) bool {
	var cell *CellError
	return ctx.Err() != nil || !errors.As(err, &cell) || cell.stuck
}

// lastPanic returns the panic of a goroutine after the last cell, as the error of the cell that
// started the goroutine. index is that of the cell, from 1, or 0 if it is not known.
func (r *recorder) lastPanic(ctx context.Context, workers link.Worker) (index int, err error) {
	reply, err := link.Ask(ctx, workers, link.Panic{})
	if err != nil || reply.Error == nil {
		return 0, err
	}
	number := reply.Error.Earlier
	if c := r.cells[number]; c != nil {
		index = slices.Index(r.notebook.Cells, c.Cell) + 1
	}
	r.end(number, link.Result{Error: reply.Error})
	return index, &CellError{Cell: number, Why: reply.Error}
}

// limitError is the cause of a context that ends at Config.Limit.
type limitError time.Duration

func (e limitError) Error() string {
	return fmt.Sprintf("the notebook did not end within %v", time.Duration(e))
}

// Runs reports whether Run executes a cell: code that is not empty and does not have the
// tag skip-execution.
func Runs(c *notebook.Cell) bool {
	return c.Type == "code" && strings.TrimSpace(c.Source) != "" && !c.HasTag("skip-execution")
}

// run executes a cell with its number as the execution count.
func (r *recorder) run(ctx context.Context, workers link.Worker, timeout time.Duration, count int, c *notebook.Cell) error {
	r.begin(count, c)
	if why := r.workerEnded(); why != nil { // the variables are lost
		r.end(count, link.Result{Error: why})
		return &CellError{Cell: count, Why: why}
	}
	mayFail := c.HasTag("raises-exception")
	if asked, ok := link.Help(c.Source); ok {
		found, err := link.Ask(ctx, workers, asked)
		switch {
		case err != nil:
			return fmt.Errorf("cell %d: %w", count, err)
		case len(found.Data) > 0:
			r.help(count, found)
			return nil
		}
		why := asked.NotFound(found.Similar)
		r.end(count, link.Result{Error: why})
		if !mayFail {
			return &CellError{Cell: count, Why: why}
		}
		return nil
	}
	id := c.ID()
	if id == "" {
		id = strconv.Itoa(count)
	}
	result, err := r.execute(ctx, workers, timeout, link.Execute{Cell: count, Code: c.Source, ID: id, AllowInput: true})
	stopped := errors.Is(err, errStopped)
	if err != nil && !errors.As(err, &result.Error) && !stopped {
		return fmt.Errorf("cell %d: %w", count, err)
	}
	r.end(count, result)
	if result.Error != nil && (stopped || !mayFail || result.Error.Earlier > 0) {
		return &CellError{Cell: count, Why: result.Error, stuck: errors.Is(err, errStuck)}
	}
	return nil
}

// errStopped reports that a cell was interrupted by Run. Then its tags do not matter.
var errStopped = errors.New("stopped by the run")

// errStuck is errStopped for a cell that may still be running.
var errStuck = fmt.Errorf("%w, but it did not end", errStopped)

// execute runs one cell. If ctx ends or the timeout expires, it interrupts the cell and
// returns errStopped.
func (r *recorder) execute(ctx context.Context, w link.Worker, timeout time.Duration, cell link.Execute) (link.Result, error) {
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	if timeout > 0 {
		limited, cancel = context.WithTimeout(limited, timeout)
		defer cancel()
	}
	r.input.begin(limited)
	running, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	type answer struct {
		result link.Result
		err    error
	}
	done := make(chan answer, 1)
	go func() {
		result, err := w.Execute(running, cell)
		done <- answer{result, err}
	}()
	select {
	case a := <-done:
		return a.result, a.err
	case <-limited.Done():
	}
	why := &link.CellError{Name: "interrupted", Value: "quern run was stopped"}
	var limit limitError
	switch {
	case ctx.Err() == nil:
		why = &link.CellError{Name: "timeout", Value: fmt.Sprintf("the cell did not end within %v", timeout)}
	case errors.As(context.Cause(ctx), &limit):
		why = &link.CellError{Name: "timeout", Value: limit.Error()}
	}
	why.Traceback = []string{why.Error()}
	if err := w.Interrupt(running); err != nil {
		return link.Result{Error: why}, errStuck // the worker ends with the run
	}
	select {
	case a := <-done:
		if a.err == nil && a.result.Error != nil && why.Name == "interrupted" {
			return a.result, errStopped
		}
	case <-time.After(r.grace):
		return link.Result{Error: why}, errStuck
	}
	return link.Result{Error: why}, errStopped
}
