package active

import (
	"context"
	"fmt"
	"math"
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

// Margin selects the examples whose two most likely classes are closest: the lowest p₁ - p₂
// (Scheffer and others, Active Hidden Markov Models for Information Extraction, 2001). In
// comparisons over many data sets it is hard to beat (Bahri and others, Is Margin All You
// Need?, 2022).
func Margin() Strategy {
	return scoreStrategy{"margin", func(p []float64) float64 {
		first, second := twoHighest(p)
		return p[second] - p[first]
	}}
}

// twoHighest returns the indices of the highest and the second-highest value; p has at least
// two.
func twoHighest(p []float64) (first, second int) {
	first, second = 0, 1
	if p[second] > p[first] {
		first, second = second, first
	}
	for k := 2; k < len(p); k++ {
		switch {
		case p[k] > p[first]:
			first, second = k, first
		case p[k] > p[second]:
			second = k
		}
	}
	return first, second
}

// Entropy selects the examples with the highest entropy, -Σ p ln p (Shannon, 1948; for active
// learning Dagan and Engelson, 1995). With many classes it prefers examples between many of
// them; with few labels it can be worse than random.
func Entropy() Strategy { return scoreStrategy{"entropy", entropy} }

// entropy returns -Σ p ln p in nats.
func entropy(p []float64) float64 {
	sum := 0.0
	for _, v := range p {
		if v > 0 {
			sum -= v * math.Log(v)
		}
	}
	return sum
}

// Random selects at random. It is the baseline for other strategies.
func Random() Strategy { return random{} }

type random struct{}

func (random) Select(_ context.Context, c *Candidates, n int) ([]int, error) {
	return c.Random().Perm(c.Len())[:n], nil
}

func (random) String() string { return "random" }
