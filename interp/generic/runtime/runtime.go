// Package runtime implements the generic function of the standard package runtime for interpreted code.
package runtime

import "runtime"

// AddCleanup checks its arguments like the standard function, and does not run the cleanup, which is never guaranteed to run.
func AddCleanup[T, S any](ptr *T, cleanup func(S), arg S) runtime.Cleanup {
	if ptr == nil {
		panic("runtime.AddCleanup: ptr is nil")
	}
	if p, ok := any(arg).(*T); ok && p == ptr {
		panic("runtime.AddCleanup: ptr is equal to arg, cleanup will never run")
	}
	return runtime.Cleanup{}
}
