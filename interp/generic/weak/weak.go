// Package weak implements the standard package weak for interpreted code.
package weak

// Pointer is a pointer that keeps its object alive. The documentation of the standard package allows that: Value is not
// guaranteed to return nil at some time.
type Pointer[T any] struct {
	pointer *T
}

// Make returns a pointer whose Value is ptr. Two such pointers are equal if and only if they were made from equal pointers.
func Make[T any](ptr *T) Pointer[T] { return Pointer[T]{ptr} }

// Value returns the pointer that the weak pointer was made from.
func (p Pointer[T]) Value() *T { return p.pointer }
