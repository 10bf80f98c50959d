package data

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Subset is the set of the examples at the given indices, in that order. An
// index may come more than once.
func (s *Dataset) Subset(indices []int) (*Dataset, error) {
	index := make([]int, len(indices))
	for k, i := range indices {
		if i < 0 || i >= s.Len() {
			return nil, fmt.Errorf("data: index %d is not in %s, which has %d examples", i, s.name, s.Len())
		}
		index[k] = s.at(i)
	}
	return s.with(index), nil
}

// First is the set of the first n examples, or of all if there are fewer.
func (s *Dataset) First(n int) *Dataset {
	index := make([]int, max(0, min(n, s.Len())))
	for i := range index {
		index[i] = s.at(i)
	}
	return s.with(index)
}

// Shuffled is the set in an order that the seed fixes.
func (s *Dataset) Shuffled(seed uint64) *Dataset {
	index := permutation(s.Len(), seed, 0)
	for k, i := range index {
		index[k] = s.at(i)
	}
	return s.with(index)
}

// Split cuts the set in two: the first holds the given fraction of the
// examples, rounded to a whole number, and the second the rest. The order
// stays; Shuffled before Split makes it random. A fraction outside [0, 1] is
// taken as the nearer end.
func (s *Dataset) Split(fraction float64) (first, rest *Dataset) {
	if !(fraction > 0) {
		fraction = 0
	}
	n := int(math.Round(min(fraction, 1) * float64(s.Len())))
	index := make([]int, s.Len())
	for i := range index {
		index[i] = s.at(i)
	}
	return s.with(index[:n:n]), s.with(index[n:])
}

// with is the set with other examples of the same source.
func (s *Dataset) with(index []int) *Dataset {
	t := *s
	t.index = index
	return &t
}

// permutation is a shuffle of 0 … n-1 that depends on the seed and the round
// only, so that an epoch has one order whoever asks for it.
func permutation(n int, seed uint64, round int) []int {
	return rand.New(rand.NewPCG(seed, uint64(round))).Perm(n)
}
