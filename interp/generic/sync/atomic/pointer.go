// Package atomic implements the generic type of the standard package sync/atomic for interpreted code.
package atomic

import "sync"

// Pointer is a *T that several goroutines may load and store. The zero value holds nil. It must not be copied after the first
// use. Its operations use a lock: in interpreted code, atomic instructions would not be faster.
type Pointer[T any] struct {
	lock    sync.Mutex
	pointer *T
}

// Load returns the pointer.
func (x *Pointer[T]) Load() *T {
	x.lock.Lock()
	pointer := x.pointer
	x.lock.Unlock()
	return pointer
}

// Store sets the pointer.
func (x *Pointer[T]) Store(val *T) {
	x.lock.Lock()
	x.pointer = val
	x.lock.Unlock()
}

// Swap sets the pointer and returns the previous one.
func (x *Pointer[T]) Swap(next *T) (old *T) {
	x.lock.Lock()
	old = x.pointer
	x.pointer = next
	x.lock.Unlock()
	return old
}

// CompareAndSwap sets the pointer if it is old, and reports whether it was.
func (x *Pointer[T]) CompareAndSwap(old, next *T) (swapped bool) {
	x.lock.Lock()
	if x.pointer == old {
		x.pointer = next
		swapped = true
	}
	x.lock.Unlock()
	return swapped
}
