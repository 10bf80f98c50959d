package interp

import (
	"context"
	"reflect"
	"time"

	"github.com/quernlab/quern/interp/rt"
)

// A runContext ends when its run is interrupted, and not with its cell.
type runContext struct{ *run }

func (runContext) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }
func (c runContext) Done() <-chan struct{}                 { return c.stopped }
func (runContext) Value(key any) any {
	if key == (ofSession{}) {
		return true
	}
	return nil
}

func (c runContext) Err() error {
	if c.isStopped() {
		return context.Canceled
	}
	return nil
}

// ofSession is the key of a value that contexts of a session have, and those that
// derive from them.
type ofSession struct{}

// A cellContext is what ctx holds. That it is one type keeps a goroutine that
// reads ctx while the next cell sets it from seeing halves of two values.
type cellContext struct{ context.Context }

func (*cellContext) String() string { return "ctx" }

// setContext makes ctx the context of a run, unless a cell has given it a value of
// its own: that stays, but for one that derives from ctx and has ended.
func (s *Session) setContext(r *run) {
	if isOver(*s.context) {
		*s.context = &cellContext{runContext{r}}
	}
}

func isOver(ctx context.Context) bool {
	switch _, own := ctx.(*cellContext); {
	case ctx == nil, own:
		return true
	case !isCompiled(ctx):
		return false // its methods may be code of a cell
	}
	return ctx.Value(ofSession{}) != nil && ctx.Err() != nil
}

// isCompiled tells whether ctx is one of those that package context makes, or one
// that stands for such.
func isCompiled(ctx context.Context) bool {
	_, ok := ctx.(*rt.ValueContext)
	return ok || reflect.Indirect(reflect.ValueOf(ctx)).Type().PkgPath() == "context"
}
