package data

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Subset returns the data set of the examples at the given indices, in that order. An index may
// occur more than once.
func (s *Dataset) Subset(indices []int) (*Dataset, error) {
	for _, i := range indices {
		if i < 0 || i >= s.Len() {
			return nil, fmt.Errorf("data: index %d is not in %s, which has %d examples", i, s.name, s.Len())
		}
	}
	return s.pick(indices), nil
}

// First returns the data set of the first n examples, or of all if there are fewer.
func (s *Dataset) First(n int) *Dataset {
	return s.pick(identity(max(0, min(n, s.Len()))))
}

// Shuffled returns the data set in an order determined by the seed.
func (s *Dataset) Shuffled(seed uint64) *Dataset {
	return s.pick(permutation(s.Len(), seed, 0))
}

// Split divides the data set into two: the first has the given fraction of the examples,
// rounded to an integer, and the second the rest, without changing the order. It is for data whose
// order matters, such as the past and the future of a time series. A data set that is sorted by
// class, such as a folder of images, must be divided with [Dataset.RandomSplit] or
// [Dataset.StratifiedSplit]. A fraction outside [0, 1] is clamped.
func (s *Dataset) Split(fraction float64) (first, rest *Dataset) {
	n := share(fraction, s.Len())
	order := identity(s.Len())
	return s.pick(order[:n]), s.pick(order[n:])
}

// RandomSplit is [Dataset.Split] in a random order that depends only on the seed, like PyTorch's
// random_split.
func (s *Dataset) RandomSplit(fraction float64, seed uint64) (first, rest *Dataset) {
	return s.Shuffled(seed).Split(fraction)
}

// share returns a fraction of n, rounded. A fraction outside [0, 1] is clamped.
func share(fraction float64, n int) int {
	if !(fraction > 0) {
		return 0
	}
	return int(math.Round(min(fraction, 1) * float64(n)))
}

// pick returns the data set of the examples at valid indices.
func (s *Dataset) pick(indices []int) *Dataset {
	t := *s
	t.index = make([]int, len(indices))
	for k, i := range indices {
		t.index[k] = s.at(i)
	}
	return &t
}

// identity returns 0 … n-1.
func identity(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// permutation returns a shuffle of 0 … n-1 that depends only on the seed and the epoch, so the
// order of an epoch is reproducible.
func permutation(n int, seed uint64, epoch int) []int {
	return rand.New(rand.NewPCG(seed, uint64(epoch))).Perm(n)
}
