package data

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/quernlab/quern/accel/internal/training/option"
)

// WeightedRandomSampler draws the examples of an epoch at random with replacement, each with a
// probability proportional to its weight, like PyTorch's WeightedRandomSampler. An epoch has as
// many examples as the data set; [Shuffle] sets the seed. [Dataset.BalancedWeights] returns weights
// that make all classes equally frequent.
func WeightedRandomSampler(weights []float64) Option {
	return Option{option.New(func(l *loader) { l.weights = weights }, "WeightedRandomSampler", option.Code(fmt.Sprintf("%d weights", len(weights))))}
}

// HardExampleWeights returns weights with which [WeightedRandomSampler] draws examples in proportion to their
// losses, or to other scores that are high for hard examples, and a share of all draws uniformly, so that no
// example is forgotten: (1-uniform)·loss/Σloss + uniform/n. If all losses are 0, all draws are uniform. Each
// loss must be finite and not negative, and uniform from 0 to 1.
//
//	weights, err := data.HardExampleWeights(losses, 0.2)
//	it := train.Batches(64, data.Shuffle(1), data.Epoch(epoch), data.WeightedRandomSampler(weights))
func HardExampleWeights(losses []float64, uniform float64) ([]float64, error) {
	if !(uniform >= 0 && uniform <= 1) {
		return nil, fmt.Errorf("data: HardExampleWeights: the share %v of uniform draws must be from 0 to 1", uniform)
	}
	largest, sum := 0.0, 0.0
	for i, l := range losses {
		if !(l >= 0) || math.IsInf(l, 1) {
			return nil, fmt.Errorf("data: HardExampleWeights: the loss %v of example %d must not be negative and must be finite", l, i)
		}
		largest = max(largest, l)
	}
	for _, l := range losses {
		sum += l / max(largest, math.SmallestNonzeroFloat64) // the sum of large ones may be infinite
	}
	weights := make([]float64, len(losses))
	for i, l := range losses {
		weights[i] = 1 / float64(len(losses))
		if sum > 0 {
			weights[i] = (1-uniform)*(l/largest/sum) + uniform*weights[i]
		}
	}
	return weights, nil
}

// BalancedWeights returns for each example one divided by the number of examples of its class, the
// weights with which [WeightedRandomSampler] draws all classes equally often.
func (s *Dataset) BalancedWeights() ([]float64, error) {
	labels, counts, err := s.strata("BalancedWeights", 0)
	if err != nil {
		return nil, err
	}
	weights := make([]float64, len(labels))
	for i, c := range labels {
		weights[i] = 1 / float64(counts[c])
	}
	return weights, nil
}

// weightedOrder draws as many examples as there are weights.
func weightedOrder(weights []float64, seed uint64, epoch int) []int {
	sums := slices.Clone(weights)
	for i := range sums[1:] {
		sums[i+1] += sums[i]
	}
	random := rand.New(rand.NewPCG(seed, uint64(epoch)))
	order := make([]int, len(weights))
	for k := range order {
		at := random.Float64() * sums[len(sums)-1]
		i, _ := slices.BinarySearchFunc(sums, at, func(sum, at float64) int {
			if sum > at {
				return 1 // the first sum above at
			}
			return -1
		})
		order[k] = min(i, len(weights)-1)
	}
	return order
}
