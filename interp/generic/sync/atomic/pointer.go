// Package atomic implements the generic type of the standard package sync/atomic for interpreted code.
package atomic

import (
	"sync/atomic"
	"unsafe"
)

// Pointer is a *T that several goroutines may load and store. The zero value holds nil. It must not be copied after the first
// use. It has the fields of the standard type, so that functions with parameters that contain one have the same memory as those
// that compiled packages see.
type Pointer[T any] struct {
	_       [0]*T
	_       struct{}
	pointer unsafe.Pointer
}

// Load returns the pointer.
func (x *Pointer[T]) Load() *T { return (*T)(atomic.LoadPointer(&x.pointer)) }

// Store sets the pointer.
func (x *Pointer[T]) Store(val *T) { atomic.StorePointer(&x.pointer, unsafe.Pointer(val)) }

// Swap sets the pointer and returns the previous one.
func (x *Pointer[T]) Swap(next *T) (old *T) {
	return (*T)(atomic.SwapPointer(&x.pointer, unsafe.Pointer(next)))
}

// CompareAndSwap sets the pointer if it is old, and reports whether it was.
func (x *Pointer[T]) CompareAndSwap(old, next *T) (swapped bool) {
	return atomic.CompareAndSwapPointer(&x.pointer, unsafe.Pointer(old), unsafe.Pointer(next))
}
