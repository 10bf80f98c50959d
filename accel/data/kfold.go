package data

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

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
