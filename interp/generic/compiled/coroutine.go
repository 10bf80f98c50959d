package compiled

import "iter"

// Coroutine runs body as a coroutine: step runs it to its next call of yield and returns true, or false when it has
// returned; stop makes yield return false and waits for the body's end. Panics cross as [iter.Pull] says. Values go
// through a variable that the body and the caller of step share.
func Coroutine(body func(yield func() bool)) (step func() bool, stop func()) {
	next, stop := iter.Pull(func(yield func(struct{}) bool) {
		body(func() bool { return yield(struct{}{}) })
	})
	return func() bool {
		_, ok := next()
		return ok
	}, stop
}
