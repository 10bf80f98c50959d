package option

import (
	"errors"
	"fmt"
	"math"
)

// CheckWeights returns an error unless the weights can be those of a data.WeightedRandomSampler for n
// examples: one for each, not negative, finite, and not all zero.
func CheckWeights(weights []float64, n int) error {
	sum := 0.0
	for i, w := range weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			return fmt.Errorf("data: WeightedRandomSampler: the weight %v of example %d must not be negative and must be finite", w, i)
		}
		sum += w
	}
	switch {
	case len(weights) != n:
		return fmt.Errorf("data: WeightedRandomSampler: %d weights for %d examples", len(weights), n)
	case !(sum > 0) || math.IsInf(sum, 1):
		return errors.New("data: WeightedRandomSampler: the sum of the weights must be positive and finite")
	}
	return nil
}
