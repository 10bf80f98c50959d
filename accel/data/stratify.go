package data

import (
	"cmp"
	"fmt"
	"slices"
)

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
