package active

import (
	"context"
	"fmt"
)

// defaultMembers is the default number of ensemble members.
const defaultMembers = 20

// BALD selects the examples about which the members of a dropout ensemble disagree most while
// each is confident: the mutual information between the label and the weights, H(mean p) - mean
// H(p) (Houlsby and others, 2011; with dropout Gal and others, Deep Bayesian Active Learning
// with Image Data, 2017). The default is 20 members. For a model without Dropout the error is
// [ErrNoDropout].
func BALD(members ...int) Strategy { return bald{memberCount(members)} }

func memberCount(given []int) int {
	if len(given) > 0 {
		return given[0]
	}
	return defaultMembers
}

type bald struct{ members int }

func (s bald) Select(ctx context.Context, c *Candidates, n int) ([]int, error) {
	if s.members < 2 {
		return nil, fmt.Errorf("active: %v: an ensemble needs at least 2 members, got %d", s, s.members)
	}
	draws, err := c.Draws(ctx, s.members)
	if err != nil {
		return nil, err
	}
	return c.Top(disagreement(draws), n)
}

func (s bald) String() string { return "BALD" }

// disagreement returns the mutual information of each example in nats.
func disagreement(draws [][][]float64) []float64 {
	scores := make([]float64, len(draws[0]))
	for i := range scores {
		mean := make([]float64, len(draws[0][i]))
		within := 0.0
		for _, member := range draws {
			for k, v := range member[i] {
				mean[k] += v / float64(len(draws))
			}
			within += entropy(member[i]) / float64(len(draws))
		}
		scores[i] = entropy(mean) - within
	}
	return scores
}
