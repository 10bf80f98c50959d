// Package goroutine identifies goroutines, so that a scope such as tensor.NoGrad applies
// only to the goroutine that opened it.
package goroutine

// Identity identifies a goroutine until it ends. A later goroutine may get the same
// identity, so a goroutine must remove its identity from tables before it ends.
type Identity uintptr
