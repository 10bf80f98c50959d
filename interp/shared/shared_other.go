//go:build !js

package shared

import "sync/atomic"

// Pointer is a pointer that any goroutine may load and store.
type Pointer[T any] = atomic.Pointer[T]

// Uint64 is a number that any goroutine may load and change.
type Uint64 = atomic.Uint64
