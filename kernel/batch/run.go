package batch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
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
	// Stdout and Stderr receive the output of the cells as it is produced. Results and
	// displays are written as text to Stdout, errors of cells to Stderr.
	Stdout, Stderr io.Writer
	// Color reports whether Stderr supports ANSI colors.
	Color bool
	// Stdin is the standard input of the cells; nil is empty.
	Stdin io.Reader
	// Timeout is how long a cell may run; 0 means no limit.
	Timeout time.Duration
	// Logger receives the log of the supervisor; nil discards it.
	Logger *slog.Logger
}

// CellError reports the cell that failed.
type CellError struct {
	Cell int // index among all cells of the notebook, from 1
	// Why is the error that the notebook shows.
	Why *link.CellError
}

func (e *CellError) Error() string {
	why, _, _ := strings.Cut(e.Why.Error(), "\n") // the other lines are in the traceback
	return fmt.Sprintf("cell %d failed: %s", e.Cell, why)
}

// Unwrap returns the error of the cell.
func (e *CellError) Unwrap() error { return e.Why }

// Time for an interrupted cell to stop, and for a worker to end.
const (
	stopWait = 5 * time.Second
	endWait  = 3 * time.Second
)

// Run executes the code cells of a notebook in order and stores their outputs in it. It
// stops at the first cell that fails and returns a *CellError, unless the cell has the
// tag raises-exception. A cell with the tag skip-execution does not run. If ctx ends or a
// cell exceeds Timeout, the running cell is interrupted and counts as failed whatever its
// tags. The outputs of the cells after a failed one are removed. A cell such as fmt? asks
// for help, which is written to the terminal but not stored in the notebook.
func Run(ctx context.Context, n *notebook.Notebook, config Config) error {
	log := config.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	for _, c := range n.Cells {
		c.Outputs, c.Count = nil, 0
	}
	page := newRecorder(n, config.Stdout, config.Stderr)
	page.input, page.color = newInput(config.Stdin), config.Color
	workers := ranks.New(worker.Program(config.WorkerCommand), page, log)
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWait)
		defer cancel()
		if err := workers.Shutdown(end); err != nil {
			log.Warn("worker shut down", "error", err)
		}
		page.finish()
	}()
	count := 0
	for i, c := range n.Cells {
		if c.Type != "code" || strings.TrimSpace(c.Source) == "" || c.HasTag("skip-execution") {
			continue
		}
		count++
		page.begin(count, c)
		if asked, ok := link.Help(c.Source); ok {
			found, err := link.Ask(ctx, workers, asked)
			if err != nil {
				return fmt.Errorf("cell %d: %w", i+1, err)
			}
			if len(found.Data) > 0 {
				page.help(found)
				continue
			}
			page.end(count, link.Result{Error: asked.NotFound()})
			if !c.HasTag("raises-exception") {
				return &CellError{Cell: i + 1, Why: asked.NotFound()}
			}
			continue
		}
		result, err := page.execute(ctx, workers, config.Timeout, link.Execute{Cell: count, Code: c.Source, AllowInput: true})
		stopped := errors.Is(err, errStopped)
		if err != nil && !errors.As(err, &result.Error) && !stopped {
			return fmt.Errorf("cell %d: %w", i+1, err)
		}
		page.end(count, result)
		if result.Error != nil && (stopped || !c.HasTag("raises-exception")) {
			return &CellError{Cell: i + 1, Why: result.Error}
		}
	}
	return nil
}

// errStopped reports that a cell was interrupted by Run. Then its tags do not matter.
var errStopped = errors.New("stopped by the run")

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
	if ctx.Err() == nil {
		why = &link.CellError{Name: "timeout", Value: fmt.Sprintf("the cell did not end within %v", timeout)}
	}
	why.Traceback = []string{why.Error()}
	if err := w.Interrupt(running); err != nil {
		return link.Result{Error: why}, errStopped // the worker ends with the run
	}
	select {
	case a := <-done:
		if a.err == nil && a.result.Error != nil && why.Name == "interrupted" {
			return a.result, errStopped
		}
	case <-time.After(stopWait):
	}
	return link.Result{Error: why}, errStopped
}
