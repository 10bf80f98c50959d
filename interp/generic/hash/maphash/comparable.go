// Package maphash implements the generic functions of the standard package hash/maphash for interpreted code.
package maphash

import (
	"hash/maphash"

	"github.com/quernlab/quern/interp/generic/compiled"
)

// Comparable returns the hash of a value: equal values have equal hashes under one seed. It panics if v holds an
// interface whose value cannot be compared.
func Comparable[T comparable](seed maphash.Seed, v T) uint64 {
	return compiled.Hash(seed, v)
}

// WriteComparable adds a value to the data that h has hashed.
func WriteComparable[T comparable](h *maphash.Hash, x T) {
	compiled.WriteHash(h, x)
}
