package active

import (
	"context"
	"math"
)

// CoreSet selects examples so that every example of the pool is close to a labeled one: each time
// the one farthest from all labeled and selected ones (Sener and Savarese, Active Learning for
// Convolutional Neural Networks: A Core-Set Approach, 2018). It uses Euclidean distances between
// features: the result of the function, or the input of the model's last layer, or without a model
// the values of the examples. Without labels the first example is random.
func CoreSet(features ...Features) Strategy { return coreSet{optionalFeatures(features)} }

type coreSet struct{ features Features }

func (s coreSet) Select(ctx context.Context, c *Candidates, n int) ([]int, error) {
	rows, labeled, err := c.features(ctx, s.features)
	if err != nil {
		return nil, err
	}
	nearest := make([]float64, len(rows)) // squared distance to the nearest selected example
	for i := range nearest {
		nearest[i] = math.Inf(1)
	}
	closer := func(center []float32) {
		inParts(len(rows), func(from, to int) {
			for i := from; i < to; i++ {
				nearest[i] = min(nearest[i], squared(rows[i], center))
			}
		})
	}
	for k, center := range labeled {
		if k%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		closer(center)
	}
	order := c.random.Perm(len(rows)) // break ties at random
	chosen := make([]int, 0, n)
	taken := make([]bool, len(rows))
	for len(chosen) < n {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		farthest := -1
		for _, i := range order {
			if !taken[i] && (farthest < 0 || nearest[i] > nearest[farthest]) {
				farthest = i
			}
		}
		chosen, taken[farthest] = append(chosen, farthest), true
		closer(rows[farthest])
	}
	return chosen, nil
}

func (coreSet) String() string { return "core-set" }
