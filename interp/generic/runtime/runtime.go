// Package runtime implements the generic function of the standard package runtime for interpreted code.
package runtime

import (
	"reflect"
	"runtime"

	"github.com/quernlab/quern/interp/generic/compiled"
)

// AddCleanup makes the run time call cleanup(arg) after ptr has become unreachable.
func AddCleanup[T, S any](ptr *T, cleanup func(S), arg S) runtime.Cleanup {
	if ptr == nil {
		panic("runtime.AddCleanup: ptr is nil")
	}
	if p, ok := any(arg).(*T); ok && p == ptr {
		panic("runtime.AddCleanup: ptr is equal to arg, cleanup will never run")
	}
	return compiled.AddCleanup(reflect.ValueOf(ptr), call(cleanup, arg))
}

// call returns a function that calls cleanup. It is not a literal in AddCleanup, because the interpreter lets a literal refer
// to all variables of the enclosing function, and so to ptr.
func call[S any](cleanup func(S), arg S) func() { return func() { cleanup(arg) } }
