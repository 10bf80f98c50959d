package goroutine

import (
	"context"
	"reflect"
	"time"
)

// Context returns a context that ends when the run is stopped. It does not end with the
// cell.
func (r *Run) Context() context.Context { return runContext{r} }

type runContext struct{ *Run }

func (runContext) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }
func (c runContext) Done() <-chan struct{}                 { return c.stopped }
func (runContext) Value(key any) any {
	if key == (ofSession{}) {
		return true
	}
	return nil
}

func (c runContext) Err() error {
	if c.IsStopped() {
		return context.Canceled
	}
	return nil
}

// ofSession is the key of a value that contexts of a session have, and contexts derived
// from them.
type ofSession struct{}

// A cellContext is the dynamic type of the variable ctx of cells. Because the type is always
// the same, a goroutine that reads ctx while the next cell sets it cannot read the type of
// one value with the data of another.
type cellContext struct{ context.Context }

func (*cellContext) String() string { return "ctx" }

// SetContext sets ctx, the variable of cells, to the context of a run. If a cell has set
// the variable, it keeps its value, unless that derives from an earlier ctx and has ended.
func SetContext(ctx *context.Context, r *Run) {
	if isOver(*ctx) {
		*ctx = &cellContext{runContext{r}}
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

// isCompiled reports whether the methods of ctx are compiled: package context created it, or
// it wraps such a context.
func isCompiled(ctx context.Context) bool {
	return reflect.Indirect(reflect.ValueOf(ctx)).Type().PkgPath() == "context"
}
