package active

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/nn"
)

// VoteEntropy selects the examples about which the models of a committee disagree most: the highest
// -Σ v ln v, where v is the share of the members whose most likely class it is (Dagan and Engelson,
// 1995). The members are models of any kind, trained on the labels known so far, for instance with
// different seeds or architectures; the model of [Query] is not used and may be nil.
func VoteEntropy(members ...nn.Module) Strategy {
	return committee{"VoteEntropy", members, func(draws [][][]float64) []float64 {
		return scoreEach(draws, func(draws [][]float64, _ []float64) float64 {
			votes := make([]float64, len(draws[0]))
			for _, p := range draws {
				votes[slices.Index(p, slices.Max(p))] += 1 / float64(len(draws))
			}
			return entropy(votes)
		})
	}}
}

// ConsensusEntropy selects the examples for which the mean of the probabilities of a committee has the
// highest entropy. Members are those of [VoteEntropy].
func ConsensusEntropy(members ...nn.Module) Strategy {
	return committee{"ConsensusEntropy", members, func(draws [][][]float64) []float64 {
		return scoreEach(draws, func(_ [][]float64, mean []float64) float64 { return entropy(mean) })
	}}
}

// MaxDisagreement selects the examples for which a member of a committee differs most from the others:
// the highest Kullback-Leibler divergence of its probabilities from their mean over the committee,
// Σ p ln(p / mean) (McCallum and Nigam, 1998, with the largest member as in modAL). Members are those
// of [VoteEntropy].
func MaxDisagreement(members ...nn.Module) Strategy {
	return committee{"MaxDisagreement", members, func(draws [][][]float64) []float64 {
		return scoreEach(draws, func(draws [][]float64, mean []float64) float64 {
			most := 0.0
			for _, p := range draws {
				sum := 0.0
				for k, v := range p {
					if v > 0 {
						sum += v * math.Log(v/mean[k])
					}
				}
				most = max(most, sum)
			}
			return most
		})
	}}
}

// EnsembleBALD is [BALD] with the models of an ensemble as members instead of draws of dropout: it
// needs no Dropout, and its members may differ in any way. Members are those of [VoteEntropy].
func EnsembleBALD(members ...nn.Module) Strategy {
	return committee{"EnsembleBALD", members, disagreement}
}

// committee selects by scores of the probabilities of several models, [member][candidate][class].
type committee struct {
	name    string
	members []nn.Module
	scores  func(draws [][][]float64) []float64
}

func (s committee) Select(ctx context.Context, c *Candidates, n int) ([]int, error) {
	if len(s.members) < 2 {
		return nil, fmt.Errorf("active: %s: a committee needs at least 2 models, got %d", s.name, len(s.members))
	}
	draws := make([][][]float64, len(s.members))
	for m, model := range s.members {
		member := *c
		member.model = model
		p, err := member.Probabilities(ctx)
		if err != nil {
			return nil, fmt.Errorf("active: %s: model %d: %w", s.name, m, err)
		}
		draws[m] = p
	}
	return c.Top(s.scores(draws), n)
}

func (s committee) String() string { return s.name }

// scoreEach returns a score for each example, which a function computes from the probabilities of
// the members for it and their mean.
func scoreEach(draws [][][]float64, score func(draws [][]float64, mean []float64) float64) []float64 {
	scores := make([]float64, len(draws[0]))
	for i := range scores {
		mean := make([]float64, len(draws[0][i]))
		members := make([][]float64, len(draws))
		for m := range draws {
			members[m] = draws[m][i]
			for k, v := range members[m] {
				mean[k] += v / float64(len(draws))
			}
		}
		scores[i] = score(members, mean)
	}
	return scores
}
