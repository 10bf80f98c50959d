package interp

import (
	"context"
	"time"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/lower"
)

// A cell is compiled on a goroutine of its own, since an interrupt must end it at once:
// the parser and yaegi cannot be stopped in the middle of a piece of source. All
// steps look at the context; a step that takes longer ends in the background, and the
// next cell waits for it.

// compileGrace is how long an interrupted cell waits for the step that it is at.
const compileGrace = 50 * time.Millisecond

// prepared is a cell that can run, or why it cannot.
type prepared struct {
	cell *check.Cell
	unit *lower.Unit
	err  error
}

// prepare loads the cell whose source is given by a function. When ctx ends it returns
// an error soon, and nothing of the cell is left or will be.
func (s *Session) prepare(ctx context.Context, number int, source func() (string, error)) (*check.Cell, *lower.Unit, error) {
	result := make(chan prepared, 1)
	go func() {
		var p prepared
		var src string
		if src, p.err = source(); p.err == nil {
			p.cell, p.unit, p.err = s.load(ctx, number, src)
		}
		result <- p
	}()
	select {
	case p := <-result:
		return s.unlessStopped(ctx, p)
	case <-ctx.Done():
	}
	timer := time.NewTimer(compileGrace)
	defer timer.Stop()
	select {
	case p := <-result:
		return s.unlessStopped(ctx, p)
	case <-timer.C:
	}
	leftover := make(chan struct{})
	s.leftover = leftover
	go func() {
		defer close(leftover)
		s.discard(<-result)
	}()
	return nil, nil, interruptedEarly()
}

// unlessStopped is a cell, which is discarded when ctx has ended.
func (s *Session) unlessStopped(ctx context.Context, p prepared) (*check.Cell, *lower.Unit, error) {
	if ctx.Err() == nil {
		return p.cell, p.unit, p.err
	}
	s.discard(p)
	return nil, nil, interruptedEarly()
}

func (s *Session) discard(p prepared) {
	if p.err == nil {
		s.program.Discard(p.unit)
		s.checker.Discard(p.cell)
	}
}

func interruptedEarly() *Error {
	return diagnostics.New(diagnostics.Interrupted, "the cell was interrupted before it ran", nil)
}

// finishLeftover waits until what an interrupted cell has left in the background has
// ended.
func (s *Session) finishLeftover(ctx context.Context) error {
	if s.leftover == nil {
		return nil
	}
	select {
	case <-s.leftover:
		s.leftover = nil
		return nil
	case <-ctx.Done():
		return diagnostics.New(diagnostics.Interrupted, "the cell was interrupted: the compiler has not ended yet with the cell before", nil)
	}
}
