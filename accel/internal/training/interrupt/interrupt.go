// Package interrupt recognizes the errors of contexts that are done, also as panics, and describes other panics of a model.
//
// A function that a user passes to a call such as accel.Fit may not return when the context of the
// call ends. In a notebook it then panics with the error of the context, so that the call can return
// what it has. A call that returns partial results therefore defers Catch, or nn.Catch.
package interrupt

import (
	"context"
	"errors"
	"fmt"
)

// Is reports whether err is the error of a context that is done.
func Is(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Catch recovers a panic with the error of a context that is done and stores it in *err. It is meant
// to be deferred. Any other panic continues.
func Catch(err *error) {
	switch p := recover().(type) {
	case nil:
	case error:
		if !Is(p) {
			panic(p)
		}
		*err = p
	default:
		panic(p)
	}
}

// OfModel returns the error of a model that has panicked, of which p was recovered, or, if p is nil, has ended its goroutine.
func OfModel(p any) error {
	if p == nil {
		return errors.New("the model has ended its goroutine")
	}
	return fmt.Errorf("the model has panicked: %v", p)
}

// RequireContext returns an error if the context that a user passes to a call, such as "accel: Fit", is nil.
func RequireContext(ctx context.Context, call string) error {
	if ctx == nil {
		return fmt.Errorf("%s: the context is nil: pass ctx in a cell, and context.Background() elsewhere", call)
	}
	return nil
}
