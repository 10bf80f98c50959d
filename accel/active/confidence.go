package active

import (
	"context"
	"fmt"
	"slices"
)

// LeastConfident chooses the examples whose most likely class is least likely:
// the highest 1 - max p (Lewis and Gale, A Sequential Algorithm for Training Text
// Classifiers, 1994).
func LeastConfident() Strategy {
	return measured{"least confident", func(p []float64) float64 { return 1 - slices.Max(p) }}
}

// Func is a strategy by a measure of one's own: the probabilities of the classes
// of one example, to a number that is higher the sooner it should be asked about.
// A number that is not finite is a [*NotFiniteError].
func Func(name string, measure func(p []float64) float64) Strategy { return measured{name, measure} }

// measured ranks by a measure of the probabilities.
type measured struct {
	name    string
	measure func(p []float64) float64
}

func (s measured) Select(ctx context.Context, c *Candidates, n int) ([]int, error) {
	if s.measure == nil {
		return nil, fmt.Errorf("active: Func(%q): there is no function", s.name)
	}
	return c.score(ctx, n, s.measure)
}

func (s measured) String() string { return s.name }
