package data

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Subset returns the data set of the examples at the given indices, in that order. An index may
// occur more than once.
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

// First returns the data set of the first n examples, or of all if there are fewer.
func (s *Dataset) First(n int) *Dataset {
	index := make([]int, max(0, min(n, s.Len())))
	for i := range index {
		index[i] = s.at(i)
	}
	return s.with(index)
}

// Shuffled returns the data set in an order determined by the seed.
func (s *Dataset) Shuffled(seed uint64) *Dataset {
	index := permutation(s.Len(), seed, 0)
	for k, i := range index {
		index[k] = s.at(i)
	}
	return s.with(index)
}

// Split divides the data set into two: the first has the given fraction of the examples,
// rounded to an integer, and the second the rest, without changing the order; call Shuffled
// first for a random split. A fraction outside [0, 1] is clamped.
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

// with returns the data set with other examples of the same source.
func (s *Dataset) with(index []int) *Dataset {
	t := *s
	t.index = index
	return &t
}

// permutation returns a shuffle of 0 … n-1 that depends only on the seed and the epoch, so the
// order of an epoch is reproducible.
func permutation(n int, seed uint64, epoch int) []int {
	return rand.New(rand.NewPCG(seed, uint64(epoch))).Perm(n)
}
