package active

import (
	"context"
	"math/rand/v2"
)

// BADGE selects examples with long and diverse gradients: by k-means++ on the gradients of the
// last layer's weights under the assumption that the most likely class is correct, (p - e) ⊗ h
// (Ash and others, Deep Batch Active Learning by Diverse, Uncertain Gradient Lower Bounds,
// 2020). The first has the longest gradient; the others are drawn with probabilities
// proportional to the squared distance from those already selected. h are the features: the
// result of the function, or the input of the last layer of an nn.Sequential.
func BADGE(features ...Features) Strategy { return badge{optionalFeatures(features)} }

type badge struct{ features Features }

func (s badge) Select(ctx context.Context, c *Candidates, n int) ([]int, error) {
	probabilities, err := c.Probabilities(ctx)
	if err != nil {
		return nil, err
	}
	rows, _, err := c.features(ctx, s.features)
	if err != nil {
		return nil, err
	}
	g := newGradients(probabilities, rows)
	order := c.random.Perm(len(rows)) // breaks ties at random
	first := order[0]
	for _, i := range order {
		if g.norms[i] > g.norms[first] {
			first = i
		}
	}
	chosen := []int{first}
	nearest := append([]float64(nil), g.norms...)
	for len(chosen) < n {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		g.closer(nearest, chosen[len(chosen)-1], len(chosen) == 1)
		chosen = append(chosen, byWeight(nearest, chosen, c.random))
	}
	return chosen, nil
}

func (badge) String() string { return "BADGE" }

// gradients are outer products of errors and features, which are never computed explicitly.
type gradients struct {
	errors   [][]float64 // p - e
	features [][]float32
	norms    []float64 // squared
}

func newGradients(probabilities [][]float64, features [][]float32) *gradients {
	g := &gradients{features: features, norms: make([]float64, len(features)), errors: make([][]float64, len(features))}
	for i, p := range probabilities {
		g.errors[i] = append([]float64(nil), p...)
		likely, _ := twoHighest(p)
		g.errors[i][likely]--
		g.norms[i] = dot(g.errors[i], g.errors[i]) * dot(features[i], features[i])
	}
	return g
}

// closer lowers the squared distances to those from a new center; the first center sets them.
func (g *gradients) closer(nearest []float64, center int, first bool) {
	inParts(len(nearest), func(from, to int) {
		for i := from; i < to; i++ {
			d := g.norms[i] + g.norms[center] - 2*dot(g.errors[i], g.errors[center])*dot(g.features[i], g.features[center])
			d = max(d, 0) // may be negative after rounding
			if i == center {
				d = 0
			}
			if first || d < nearest[i] {
				nearest[i] = d
			}
		}
	})
}

// byWeight draws an index with probabilities proportional to the weights, which are 0 for
// selected ones. If all are 0 it draws any other one.
func byWeight(weights []float64, chosen []int, random *rand.Rand) int {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	at := random.Float64() * total
	last := -1
	for i, w := range weights {
		if w <= 0 {
			continue
		}
		last = i
		if at -= w; at < 0 {
			break
		}
	}
	if last >= 0 {
		return last
	}
	taken := make(map[int]bool, len(chosen))
	for _, i := range chosen {
		taken[i] = true
	}
	k := random.IntN(len(weights) - len(taken))
	for i := range weights {
		if taken[i] {
			continue
		}
		if k == 0 {
			return i
		}
		k--
	}
	return -1 // unreachable, because len(taken) < len(weights)
}
