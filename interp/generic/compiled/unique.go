package compiled

import (
	"hash/maphash"
	"unique"
)

// Unique identifies a value together with its dynamic type. Two of them are equal if and only if values and types are.
type Unique struct {
	handle unique.Handle[any]
}

// MakeUnique returns the identity of a value. It panics if the value cannot be compared.
func MakeUnique(value any) Unique { return Unique{unique.Make(value)} }

// Value returns the value.
func (u Unique) Value() any { return u.handle.Value() }

// Hash returns the hash of a value and its dynamic type.
func Hash(seed maphash.Seed, value any) uint64 { return maphash.Comparable(seed, value) }

// WriteHash adds a value and its dynamic type to a hash.
func WriteHash(h *maphash.Hash, value any) { maphash.WriteComparable(h, value) }
