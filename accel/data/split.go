package data

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
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

// SplitError says that a data set cannot be divided as required, because a class or a group would
// be missing in a part.
type SplitError struct {
	Dataset string // name of the data set
	Class   string // the class with too few examples; "" if there are too few groups
	Have    int    // examples of the class, or groups
	Want    int    // at least
}

// Error names the class and what to do.
func (e *SplitError) Error() string {
	if e.Class == "" {
		return fmt.Sprintf("data: %s has %d groups, but %d are needed for each part to have one", e.Dataset, e.Have, e.Want)
	}
	return fmt.Sprintf("data: class %q of %s has %d examples, but %d are needed for each part to have one: add examples, or leave out the class", e.Class, e.Dataset, e.Have, e.Want)
}

// StratifiedSplit divides the data set at random into two parts with the same shares of the
// classes: the first has the given fraction of the examples of each class, rounded so that the sum
// is that of [Dataset.Split], and at least one of each class is in each part. The order of both
// parts is random and depends only on the seed. A class with a single example is a [*SplitError].
func (s *Dataset) StratifiedSplit(fraction float64, seed uint64) (first, rest *Dataset, err error) {
	if !(fraction > 0 && fraction < 1) {
		return nil, nil, fmt.Errorf("data: StratifiedSplit(%v): the fraction must be between 0 and 1", fraction)
	}
	labels, counts, err := s.strata("StratifiedSplit", 2)
	if err != nil {
		return nil, nil, err
	}
	quota := make([]int, len(counts))
	var classes []int
	missing := share(fraction, s.Len())
	for c, n := range counts {
		if n == 0 {
			continue
		}
		classes = append(classes, c)
		quota[c] = min(max(int(fraction*float64(n)), 1), n-1)
		missing -= quota[c]
	}
	lack := func(c int) float64 {
		if quota[c] == counts[c]-1 { // the last one is for the other part
			return -1
		}
		return fraction*float64(counts[c]) - float64(quota[c])
	}
	for ; missing > 0; missing-- { // to the classes that lack most
		c := slices.MaxFunc(classes, func(a, b int) int { return cmp.Compare(lack(a), lack(b)) })
		if lack(c) < 0 {
			break
		}
		quota[c]++
	}
	var index [2][]int
	for _, i := range permutation(s.Len(), seed, 0) {
		part := 1
		if c := labels[i]; quota[c] > 0 {
			quota[c]--
			part = 0
		}
		index[part] = append(index[part], i)
	}
	return s.pick(index[0]), s.pick(index[1]), nil
}

// strata returns the class of each example and the number of examples of each class. A class with
// fewer examples than least, but not none, is an error.
func (s *Dataset) strata(call string, least int) (labels, counts []int, err error) {
	if s.Unlabeled() {
		return nil, nil, fmt.Errorf("data: %s: %w", call, s.exampleError(0, errUnlabeled))
	}
	if err := s.oneClassEach(call); err != nil {
		return nil, nil, err
	}
	labels, counts = make([]int, s.Len()), make([]int, len(s.classes))
	for i := range labels {
		if err := s.source.read(s.at(i), values{labels: labels[i : i+1]}); err != nil {
			return nil, nil, s.exampleError(i, err)
		}
		counts[labels[i]]++
	}
	for c, n := range counts {
		if n > 0 && n < least {
			return nil, nil, &SplitError{Dataset: s.name, Class: s.classes[c], Have: n, Want: least}
		}
	}
	return labels, counts, nil
}

// GroupSplit divides the data set at random into two parts such that the examples of a group are
// in one part: the images of a patient, or the sentences of a document. groups has the name of the
// group of each example. The first part has about the given fraction of the examples, and each
// part has at least one group; a single group is a [*SplitError].
func (s *Dataset) GroupSplit(fraction float64, seed uint64, groups []string) (first, rest *Dataset, err error) {
	if !(fraction > 0 && fraction < 1) {
		return nil, nil, fmt.Errorf("data: GroupSplit(%v): the fraction must be between 0 and 1", fraction)
	}
	members, err := s.groups("GroupSplit", seed, groups, 2)
	if err != nil {
		return nil, nil, err
	}
	want, n := share(fraction, s.Len()), 0
	var index [2][]int
	for k, m := range members {
		part := 0
		switch {
		case k == 0:
		case k == len(members)-1 && len(index[1]) == 0, n+len(m)/2 > want: // more than half of it would be too much
			part = 1
		}
		if part == 0 {
			n += len(m)
		}
		index[part] = append(index[part], m...)
	}
	return s.pick(index[0]), s.pick(index[1]), nil
}

// groups returns the examples of each group, in a random order.
func (s *Dataset) groups(call string, seed uint64, groups []string, least int) ([][]int, error) {
	if len(groups) != s.Len() {
		return nil, fmt.Errorf("data: %s: %d groups for the %d examples of %s: name the group of each example", call, len(groups), s.Len(), s.name)
	}
	position := map[string]int{}
	var members [][]int
	for _, i := range permutation(s.Len(), seed, 0) {
		k, known := position[groups[i]]
		if !known {
			k = len(members)
			position[groups[i]], members = k, append(members, nil)
		}
		members[k] = append(members[k], i)
	}
	if len(members) < least {
		return nil, &SplitError{Dataset: s.name, Have: len(members), Want: least}
	}
	return members, nil
}
