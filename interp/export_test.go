package interp

import (
	"bytes"
	"context"
	"go/types"
	"reflect"
	"sync"
	"time"

	"github.com/quernlab/quern/interp/control"
	"github.com/quernlab/quern/interp/stack"
	"github.com/quernlab/quern/interp/vm/compile"
)

// SweepLeast is the number of cells before the first sweep.
const SweepLeast = sweepLeast

// BePatient makes a session wait long for the end of an interrupted cell, and for a value to
// show, since the machine may be busy.
func BePatient(s *Session) {
	s.executor.awaiter.Patience = func(control.Activity) time.Duration { return 10 * time.Minute }
	s.tools.timeout = 10 * time.Minute
}

// LookAt makes a session look for deadlocks when ticks has an element. Goroutines that exist now do not belong to it.
func LookAt(s *Session, ticks <-chan time.Time) {
	s.executor.deadlocks.Ticks = func() (<-chan time.Time, func()) { return ticks, func() {} }
	s.executor.deadlocks.Foreign = map[uint64]bool{}
	for text := range bytes.SplitSeq(stack.All(), []byte("\n\n")) {
		s.executor.deadlocks.Foreign[stack.Goroutine(string(text))] = true
	}
}

// BePrompt restores the default patience of a session.
func BePrompt(s *Session) { s.executor.awaiter.Patience = control.DefaultPatience }

// AskLate makes a session read input for a child process only after the child has run for a long
// time.
func AskLate(s *Session) { s.library.ChildInputDelay = 10 * time.Minute }

// Abandoned returns the number of abandoned cells whose compiled code is still running.
func Abandoned(s *Session) int {
	return s.flag.Ending()
}

// Load compiles a cell and discards it.
func Load(ctx context.Context, s *Session, number int, src string) error {
	c := s.compiler.load(ctx, number, src)
	s.compiler.discard(c)
	return c.err
}

// Facts returns the number of entries in the checker's tables.
func Facts(s *Session) int {
	info := s.compiler.checker.Info()
	return len(info.Types) + len(info.Defs) + len(info.Uses) + len(info.Implicits) + len(info.Selections) + len(info.Scopes) + len(info.Instances)
}

// blockingEvaluator waits before it evaluates code.
type blockingEvaluator struct {
	evaluator
	reached, release chan struct{}
	once             sync.Once
}

func (e *blockingEvaluator) Eval(src string) (reflect.Value, error) {
	e.once.Do(func() {
		close(e.reached)
		<-e.release
	})
	return e.evaluator.Eval(src)
}

// Block makes the interpreter wait at its next evaluation: it closes reached, and waits until
// release is closed.
func Block(s *Session) (reached, release chan struct{}) {
	e := &blockingEvaluator{evaluator: s.compiler.linker.interpreter, reached: make(chan struct{}), release: make(chan struct{})}
	s.compiler.linker.interpreter = e
	return e.reached, e.release
}

// Broken makes the VM's compiler panic where it meets a type, as a bug would.
func Broken(is func(*types.Named) bool) Option {
	return func(c *config) {
		c.adapt = func(v *compile.Config) {
			interpreted := v.Interpreted
			v.Interpreted = func(n *types.Named) bool {
				if is(n) {
					panic("broken")
				}
				return interpreted(n)
			}
		}
	}
}

// SetContext sets the variable ctx of cells.
func SetContext(s *Session, ctx context.Context) { *s.executor.ctx = ctx }

// HasStarted reports whether goroutines of cells are running.
func HasStarted(s *Session) bool { return s.goroutines.HasStarted() }
