package maphash_test

import (
	standard "hash/maphash"
	"math"
	"testing"

	"github.com/quernlab/quern/interp/generic/hash/maphash"
)

func TestComparable(t *testing.T) {
	seed := standard.MakeSeed()
	type pair struct {
		a string
		b float64
	}
	if maphash.Comparable(seed, pair{"x", 0}) != maphash.Comparable(seed, pair{"x", math.Copysign(0, -1)}) {
		t.Error("equal values have two hashes")
	}
	if maphash.Comparable(seed, 1) == maphash.Comparable(seed, 2) { // one in 2^64 seeds
		t.Error("1 and 2 have one hash")
	}
	if maphash.Comparable(seed, "a") == maphash.Comparable(standard.MakeSeed(), "a") {
		t.Error("two seeds give one hash")
	}
	sum := func(values ...string) uint64 {
		var h standard.Hash
		h.SetSeed(seed)
		for _, v := range values {
			maphash.WriteComparable(&h, v)
		}
		return h.Sum64()
	}
	if sum("a", "b") != sum("a", "b") || sum("a", "b") == sum("b", "a") || sum("ab") == sum("a", "b") {
		t.Error("WriteComparable")
	}
}
