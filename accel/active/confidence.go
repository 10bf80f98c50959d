package active

import (
	"context"
	"fmt"
	"slices"
)

// LeastConfident selects the examples whose most likely class has the lowest probability: the
// highest 1 - max p (Lewis and Gale, A Sequential Algorithm for Training Text Classifiers,
// 1994).
func LeastConfident() Strategy {
	return scoreStrategy{"least confident", func(p []float64) float64 { return 1 - slices.Max(p) }}
}

// Func returns a strategy with a custom score: a function of the class probabilities of one
// example, higher for examples that should be labeled first. A score that is not finite is a
// [*NotFiniteError].
func Func(name string, measure func(p []float64) float64) Strategy {
	return scoreStrategy{name, measure}
}

// scoreStrategy selects by a score of the probabilities.
type scoreStrategy struct {
	name    string
	measure func(p []float64) float64
}

func (s scoreStrategy) Select(ctx context.Context, c *Candidates, n int) ([]int, error) {
	if s.measure == nil {
		return nil, fmt.Errorf("active: Func(%q): the function is nil", s.name)
	}
	return c.score(ctx, n, s.measure)
}

func (s scoreStrategy) String() string { return s.name }
