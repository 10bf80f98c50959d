//go:build go1.27

package maphash_test

import (
	standard "hash/maphash"
	"testing"

	"github.com/quernlab/quern/interp/generic/hash/maphash"
)

func TestComparableHasher(t *testing.T) {
	var hasher maphash.Hasher[string] = maphash.ComparableHasher[string]{}
	sum := func(seed standard.Seed, v string) uint64 {
		var h standard.Hash
		h.SetSeed(seed)
		hasher.Hash(&h, v)
		return h.Sum64()
	}
	seed := standard.MakeSeed()
	if sum(seed, "a") != sum(seed, "a") || sum(seed, "a") == sum(seed, "b") || sum(seed, "a") == sum(standard.MakeSeed(), "a") {
		t.Error("Hash")
	}
	if !hasher.Equal("a", "a") || hasher.Equal("a", "b") {
		t.Error("Equal")
	}
}
