package data

import (
	"cmp"
	"math"
	"slices"
)

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
