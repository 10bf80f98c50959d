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
	t.index = s.inSource(indices)
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

// Fold is one of the divisions of a cross-validation.
type Fold struct {
	Train, Validation *Dataset // no example is in both
}

// KFold divides the data set at random into k parts of about the same size, and returns a [Fold]
// for each: it is the validation set, and the other parts are the training set. The order depends
// only on the seed.
func (s *Dataset) KFold(k int, seed uint64) ([]Fold, error) {
	if err := s.checkFolds("KFold", k); err != nil {
		return nil, err
	}
	return s.folds(k, permutation(s.Len(), seed, 0)), nil
}

// StratifiedKFold is [Dataset.KFold] with the same shares of the classes in each part. A class with
// fewer than k examples is a [*SplitError].
func (s *Dataset) StratifiedKFold(k int, seed uint64) ([]Fold, error) {
	if err := s.checkFolds("StratifiedKFold", k); err != nil {
		return nil, err
	}
	labels, _, err := s.strata("StratifiedKFold", k)
	if err != nil {
		return nil, err
	}
	order := permutation(s.Len(), seed, 0)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(labels[a], labels[b]) })
	return s.folds(k, order), nil
}

// GroupKFold is [Dataset.KFold] with the examples of a group in one part; see [Dataset.GroupSplit].
// The parts differ in size as little as the groups, largest first, allow. Fewer than k groups are a
// [*SplitError].
func (s *Dataset) GroupKFold(k int, seed uint64, groups []string) ([]Fold, error) {
	if err := s.checkFolds("GroupKFold", k); err != nil {
		return nil, err
	}
	members, err := s.groups("GroupKFold", seed, groups, k)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(members, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	parts := make([][]int, k)
	for _, m := range members {
		smallest := 0
		for p := range parts {
			if len(parts[p]) < len(parts[smallest]) {
				smallest = p
			}
		}
		parts[smallest] = append(parts[smallest], m...)
	}
	return s.foldsOf(parts), nil
}

// RollingOrigin divides a data set in the order of time: the last k·size examples are k validation sets of size
// examples, one after the other, and the training set of each has all examples before it but the last gap ones. So a
// model is judged, as it will be used, by what came later; a gap keeps examples apart whose inputs overlap, such as
// past+future-1 of [TimeSeries]. It is scikit-learn's TimeSeriesSplit(k, test_size=size, gap=gap). Without an example
// to train with in the first fold it fails.
func (s *Dataset) RollingOrigin(k, size, gap int) ([]Fold, error) {
	n := s.Len()
	if k < 1 || size < 1 || gap < 0 || k > n || size > n/k || gap > n || n-k*size-gap < 1 {
		return nil, fmt.Errorf("data: RollingOrigin(%d, %d, %d) of %s: %d parts of %d examples and a gap of %d leave none of the %d examples to train with", k, size, gap, s.name, k, size, gap, n)
	}
	folds, all := make([]Fold, k), identity(n)
	for f := range folds {
		start := n - (k-f)*size
		folds[f] = Fold{Train: s.pick(all[:start-gap]), Validation: s.pick(all[start : start+size])}
	}
	return folds, nil
}

func (s *Dataset) checkFolds(call string, k int) error {
	if k < 2 || k > s.Len() {
		return fmt.Errorf("data: %s(%d) of %s: the number of parts must be from 2 to the number of examples, %d", call, k, s.name, s.Len())
	}
	return nil
}

// folds deals the examples to k parts in turn, so that neighbors are in different parts.
func (s *Dataset) folds(k int, order []int) []Fold {
	parts := make([][]int, k)
	for at, i := range order {
		parts[at%k] = append(parts[at%k], i)
	}
	return s.foldsOf(parts)
}

func (s *Dataset) foldsOf(parts [][]int) []Fold {
	folds := make([]Fold, len(parts))
	for p, part := range parts {
		others := slices.Concat(slices.Concat(parts[:p]...), slices.Concat(parts[p+1:]...))
		folds[p] = Fold{Train: s.pick(others), Validation: s.pick(part)}
	}
	return folds
}

// StratifiedGroupKFold is [Dataset.GroupKFold] with shares of the classes in each part that are as equal
// as the groups allow. Groups are dealt to the parts as scikit-learn's StratifiedGroupKFold does, those
// whose classes differ most first.
func (s *Dataset) StratifiedGroupKFold(k int, seed uint64, groups []string) ([]Fold, error) {
	const call = "StratifiedGroupKFold"
	if err := s.checkFolds(call, k); err != nil {
		return nil, err
	}
	labels, counts, err := s.strata(call, k)
	if err != nil {
		return nil, err
	}
	members, err := s.groups(call, seed, groups, k)
	if err != nil {
		return nil, err
	}
	list := make([]labeledGroup, len(members))
	for g, m := range members {
		list[g] = labeledGroup{m, make([]float64, len(counts))}
		for _, i := range m {
			list[g].counts[labels[i]]++
		}
	}
	slices.SortStableFunc(list, func(a, b labeledGroup) int { return cmp.Compare(spread(b.counts), spread(a.counts)) })
	parts := make([]labeledGroup, k)
	for p := range parts {
		parts[p].counts = make([]float64, len(counts))
	}
	for _, g := range list {
		parts[bestPart(parts, g, counts)].add(g)
	}
	examples := make([][]int, k)
	for p := range parts {
		examples[p] = parts[p].examples
	}
	return s.foldsOf(examples), nil
}

// labeledGroup is the examples of a group or of a part, and how many there are of each class.
type labeledGroup struct {
	examples []int
	counts   []float64
}

func (p *labeledGroup) add(g labeledGroup) {
	p.examples = append(p.examples, g.examples...)
	for c, n := range g.counts {
		p.counts[c] += n
	}
}

// bestPart returns the part in which a group leaves the classes most evenly distributed over the parts,
// of equal ones the part with the fewest examples. counts are those of the classes of the data set.
func bestPart(parts []labeledGroup, g labeledGroup, counts []int) (best int) {
	least, fewest := math.Inf(1), math.MaxInt
	for candidate, part := range parts {
		sum, classes := 0.0, 0
		for c, n := range counts {
			if n == 0 {
				continue
			}
			shares := make([]float64, len(parts))
			for p := range parts {
				shares[p] = parts[p].counts[c] / float64(n)
			}
			shares[candidate] = (part.counts[c] + g.counts[c]) / float64(n)
			sum += spread(shares)
			classes++
		}
		uneven, size := sum/float64(classes), len(part.examples)
		equal := math.Abs(uneven-least) <= 1e-8+1e-5*least // as numpy.isclose
		if uneven < least || equal && size < fewest {
			best, least, fewest = candidate, uneven, size
		}
	}
	return best
}

// spread returns the standard deviation.
func spread(values []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(values)))
}
