package worker

import (
	"context"
	"time"

	"github.com/quernlab/quern/kernel/link"
)

// An interrupted cell whose process does not answer.
//
// A worker says itself when it goes on without an interrupted cell. It cannot while
// the runtime of Go has stopped all of it and waits for code that it cannot stop,
// the copy of a gigabyte for instance. Then the front goes on without the cell, and
// what comes next waits in the worker.

const (
	// leaveAfter is how long an interrupted cell has to end, at least.
	leaveAfter = 80 * time.Millisecond
	// pulse is how often the worker is asked for a sign of life, and silence how
	// long it may give none.
	pulse   = 10 * time.Millisecond
	silence = 35 * time.Millisecond
)

// execution is a cell that a worker runs.
type execution struct {
	ended  chan struct{} // closed when the worker has answered
	result link.Result   // valid once ended is closed
	err    error
	left   chan struct{} // gets a value when the front is to go on without it
}

// execute runs a cell to its end, or until it is left.
func (l *life) execute(ctx context.Context, request link.Execute) (link.Result, error) {
	e := &execution{ended: make(chan struct{}), left: make(chan struct{}, 1)}
	l.execution.Store(e)
	go func() {
		defer close(e.ended)
		e.result, e.err = l.client.Execute(ctx, request)
	}()
	select {
	case <-e.ended:
		return e.result, e.err
	case <-e.left:
		l.log.Warn("the worker does not answer, its cell is left", "cell", request.Cell)
		return link.Result{Error: unanswered()}, nil
	}
}

// isLeft says whether a cell that was left still runs.
func (l *life) isLeft() bool {
	e := l.execution.Load()
	return e != nil && !closed(e.ended)
}

// unanswered is the error of a cell that was left.
func unanswered() *link.CellError {
	const value = "the cell was interrupted, but its process does not answer: it is stopped, or in compiled code that cannot be stopped; " +
		"the next cell waits for it; restart the kernel to end it"
	return &link.CellError{Name: "interrupted", Value: value, Traceback: []string{"interrupted: " + value}, Stuck: true}
}

// watch leaves the running cell, which is interrupted, when the worker gives no sign
// of life.
func (l *life) watch() {
	e := l.execution.Load()
	if e == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	interrupted := time.Now()
	ticker := time.NewTicker(pulse)
	defer ticker.Stop()
	for {
		sign := make(chan struct{})
		asked := time.Now()
		go func() {
			// A worker that has ended does so with its cell.
			_, _ = l.client.Check(ctx, link.Check{})
			close(sign)
		}()
		for waiting := true; waiting; {
			select {
			case <-e.ended:
				return
			case <-sign:
				waiting = false
			case <-ticker.C:
				if time.Since(asked) >= silence && time.Since(interrupted) >= leaveAfter {
					select {
					case e.left <- struct{}{}:
					default: // it is left already
					}
					return
				}
			}
		}
		select {
		case <-e.ended:
			return
		case <-ticker.C:
		}
	}
}
