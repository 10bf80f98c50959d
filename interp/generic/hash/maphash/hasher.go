//go:build go1.27

package maphash

import "hash/maphash"

// Hasher is a hash function and an equivalence relation for values of type T. Equal values must have equal hashes.
type Hasher[T any] interface {
	Hash(*maphash.Hash, T)
	Equal(x, y T) bool
}

// ComparableHasher is the [Hasher] whose Equal is ==.
type ComparableHasher[T comparable] struct {
	_ [0]func(T) // so that values cannot be compared, and instances cannot be converted to each other
}

// Hash adds a value to the data that h has hashed.
func (ComparableHasher[T]) Hash(h *maphash.Hash, v T) { WriteComparable(h, v) }

// Equal reports whether x == y.
func (ComparableHasher[T]) Equal(x, y T) bool { return x == y }
