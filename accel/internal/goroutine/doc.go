// Package goroutine identifies goroutines, so that a scope such as tensor.NoGrad can hold
// for the one that opened it and for no other.
package goroutine

// Identity stands for a goroutine while that goroutine runs. It may be given to
// another one after it has ended, so a table of identities must be left before.
type Identity uintptr
