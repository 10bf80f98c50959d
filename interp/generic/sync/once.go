// Package sync implements the generic functions of the standard package sync for interpreted code.
package sync

import "sync"

// OnceValue returns a function that calls f once, at its first call, and always returns that result. If f panics, every call
// panics with the same value.
func OnceValue[T any](f func() T) func() T {
	var result T
	once := sync.OnceFunc(func() {
		result = f()
		f = nil // so that what it holds can be freed
	})
	return func() T {
		once()
		return result
	}
}

// OnceValues is OnceValue for two results.
func OnceValues[T1, T2 any](f func() (T1, T2)) func() (T1, T2) {
	var first T1
	var second T2
	once := sync.OnceFunc(func() {
		first, second = f()
		f = nil
	})
	return func() (T1, T2) {
		once()
		return first, second
	}
}
