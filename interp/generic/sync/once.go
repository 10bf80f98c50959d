// Package sync stands for the generic functions of the standard package sync in interpreted code.
package sync

import "sync"

// OnceValue returns a function that calls f the first time and gives its result every time. If f panics, so does every
// call, with the same value.
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
