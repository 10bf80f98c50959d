// Package unique implements the standard package unique for interpreted code.
package unique

import "github.com/quernlab/quern/interp/generic/compiled"

// Handle identifies a value: two handles are equal if and only if their values are.
type Handle[T comparable] struct {
	unique compiled.Unique
}

// Make returns the handle of a value.
func Make[T comparable](value T) Handle[T] {
	return Handle[T]{compiled.MakeUnique(value)}
}

// Value returns a copy of the value.
func (h Handle[T]) Value() T {
	value, _ := h.unique.Value().(T) // not a T only if T is an interface and the value nil
	return value
}
