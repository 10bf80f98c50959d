package compiled

import "iter"

// Coroutine runs body as a coroutine: step runs it to its next call of yield and returns true, or false when it has
// returned; stop makes yield return false and waits for the end of body. Panics propagate as documented at [iter.Pull]. Values
// are passed in a variable that body and the caller of step share.
func Coroutine(body func(yield func() bool)) (step func() bool, stop func()) {
	next, stop := iter.Pull(func(yield func(struct{}) bool) {
		body(func() bool { return yield(struct{}{}) })
	})
	return func() bool {
		_, ok := next()
		return ok
	}, stop
}
