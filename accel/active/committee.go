package active

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/quernlab/quern/accel/nn"
)

// VoteEntropy selects the examples about which the models of a committee disagree most: the highest
// -Σ v ln v, where v is the share of the members whose most likely class it is (Dagan and Engelson,
// 1995). The members are models of any kind, trained on the labels known so far, for instance with
// different seeds or architectures; the model of [Query] is not used and may be nil.
func VoteEntropy(members ...nn.Module) Strategy {
	return committee("VoteEntropy", members, (*Candidates).Probabilities, voteEntropy)
}

func voteEntropy(draws [][][]float64) []float64 {
	return scoreEach(draws, func(draws [][]float64, _ []float64) float64 {
		votes := make([]float64, len(draws[0]))
		for _, p := range draws {
			votes[slices.Index(p, slices.Max(p))] += 1 / float64(len(draws))
		}
		return stat.Entropy(votes)
	})
}

// ConsensusEntropy selects the examples for which the mean of the probabilities of a committee has the
// highest entropy. Members are those of [VoteEntropy].
func ConsensusEntropy(members ...nn.Module) Strategy {
	return committee("ConsensusEntropy", members, (*Candidates).Probabilities, consensusEntropy)
}

func consensusEntropy(draws [][][]float64) []float64 {
	return scoreEach(draws, func(_ [][]float64, mean []float64) float64 { return stat.Entropy(mean) })
}

// MaxDisagreement selects the examples for which a member of a committee differs most from the others:
// the highest Kullback-Leibler divergence of its probabilities from their mean over the committee,
// Σ p ln(p / mean) (McCallum and Nigam, 1998, with the largest member as in modAL). Members are those
// of [VoteEntropy].
func MaxDisagreement(members ...nn.Module) Strategy {
	return committee("MaxDisagreement", members, (*Candidates).Probabilities, maxDisagreement)
}

func maxDisagreement(draws [][][]float64) []float64 {
	return scoreEach(draws, func(draws [][]float64, mean []float64) float64 {
		most := 0.0
		for _, p := range draws {
			most = max(most, stat.KullbackLeibler(p, mean))
		}
		return most
	})
}

// EnsembleBALD is [BALD] with the models of an ensemble as members instead of draws of dropout: it
// needs no Dropout, and its members may differ in any way. Members are those of [VoteEntropy].
func EnsembleBALD(members ...nn.Module) Strategy {
	return committee("EnsembleBALD", members, (*Candidates).Probabilities, disagreement)
}

// committee selects by scores of what several models predict, [member][candidate][class or target].
// predict is called with the model of each member.
func committee(name string, members []nn.Module, predict func(member *Candidates, ctx context.Context) ([][]float64, error), scores func(draws [][][]float64) []float64) Strategy {
	return strategy{name, func(ctx context.Context, c *Candidates, n int) ([]int, error) {
		if len(members) < 2 {
			return nil, fmt.Errorf("active: %s: a committee needs at least 2 models, got %d", name, len(members))
		}
		draws := make([][][]float64, len(members))
		for m, model := range members {
			member := *c
			member.model = model
			p, err := predict(&member, ctx)
			if err != nil {
				return nil, fmt.Errorf("active: %s: model %d: %w", name, m, err)
			}
			draws[m] = p
		}
		return c.Top(scores(draws), n)
	}}
}

// scoreEach returns a score for each example, which a function computes from the predictions of
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

// defaultMembers is the default number of ensemble members.
const defaultMembers = 20

// BALD selects the examples about which the members of a dropout ensemble disagree most while
// each is confident: the mutual information between the label and the weights, H(mean p) - mean
// H(p) (Houlsby and others, 2011; with dropout Gal and others, Deep Bayesian Active Learning
// with Image Data, 2017). The default is 20 members. For a model without Dropout the error is
// [ErrNoDropout].
func BALD(members ...int) Strategy {
	return ensemble("BALD", members, func(_ context.Context, c *Candidates, draws [][][]float64, n int) ([]int, error) {
		return c.Top(disagreement(draws), n)
	})
}

// ensemble selects by the probabilities of the members of a dropout ensemble, [member][candidate][class].
func ensemble(name string, members []int, choose func(ctx context.Context, c *Candidates, draws [][][]float64, n int) ([]int, error)) Strategy {
	return strategy{name, func(ctx context.Context, c *Candidates, n int) ([]int, error) {
		number := defaultMembers
		if len(members) > 0 {
			number = members[0]
		}
		if number < 2 {
			return nil, fmt.Errorf("active: %s: an ensemble needs at least 2 members, got %d", name, number)
		}
		draws, err := c.Draws(ctx, number)
		if err != nil {
			return nil, err
		}
		return choose(ctx, c, draws, n)
	}}
}

// disagreement returns the mutual information of each example in nats.
func disagreement(draws [][][]float64) []float64 {
	return scoreEach(draws, func(draws [][]float64, mean []float64) float64 {
		within := 0.0
		for _, p := range draws {
			within += stat.Entropy(p) / float64(len(draws))
		}
		return stat.Entropy(mean) - within
	})
}

const (
	// maxJoint is the maximum number of label combinations of a batch: exact up to that number,
	// sampled beyond.
	maxJoint = 2000
	// maxAmong is the number of examples from which a batch is selected: those with the most
	// mutual information on their own.
	maxAmong = 1000
)

// BatchBALD selects the examples about which the members of a dropout ensemble disagree most
// jointly: it greedily maximizes the mutual information between all labels of the batch and the
// weights (Kirsch and others, BatchBALD, 2019). Unlike [BALD] it avoids redundant examples. The
// joint entropy is exact for up to 2000 label combinations (three labels with ten classes) and
// estimated from samples beyond. The batch is selected among the 1000 examples with the most
// disagreement. The default is 20 members. For a model without Dropout the error is
// [ErrNoDropout].
func BatchBALD(members ...int) Strategy {
	return ensemble("BatchBALD", members, func(ctx context.Context, c *Candidates, draws [][][]float64, n int) ([]int, error) {
		return jointDisagreement(ctx, draws, n, maxJoint, c.random)
	})
}

// jointDisagreement selects n examples of draws, [member][example][class].
//
// The information that an example adds can only decrease as the batch grows, so what it added
// to a smaller batch is an upper bound. Examples are evaluated in the order of their bounds
// until one adds at least the bound of the next.
func jointDisagreement(ctx context.Context, draws [][][]float64, n, limit int, random *rand.Rand) ([]int, error) {
	bounds := disagreement(draws)
	order := random.Perm(len(bounds)) // break ties at random
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(bounds[b], bounds[a]) })
	order = order[:min(len(order), max(maxAmong, n))]
	within := make([]float64, len(bounds))
	for _, i := range order {
		for _, member := range draws {
			within[i] += stat.Entropy(member[i]) / float64(len(draws))
		}
	}
	batch := newJoint(len(draws), limit, random)
	var chosen []int
	for len(chosen) < n {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		before := batch.entropy()
		best, fresh := order[0], 0 // the number of bounds that are from this round
		for fresh < len(order) {
			next := order[fresh]
			if fresh > 0 && bounds[best] >= bounds[next] {
				break
			}
			bounds[next] = batch.with(draws, next) - before - within[next]
			if fresh == 0 || bounds[next] > bounds[best] {
				best = next
			}
			fresh++
		}
		chosen = append(chosen, best)
		batch.add(draws, best)
		order = slices.DeleteFunc(order, func(i int) bool { return i == best })
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(bounds[b], bounds[a]) })
	}
	return chosen, nil
}

// joint is the joint distribution of the labels of a batch: label combinations with their
// probability under each member.
type joint struct {
	limit   int
	random  *rand.Rand
	members int
	sampled bool // the combinations are samples from the mean of the members
	all     []combination
}

// combination is one assignment of labels to the batch. The members' probabilities are shares
// times scale, so that those of long combinations do not underflow.
type combination struct {
	shares   []float64 // per member
	logScale float64
	weight   float64 // weight in sums over all combinations
}

func newJoint(members, limit int, random *rand.Rand) *joint {
	nothing := combination{shares: slices.Repeat([]float64{1}, members), weight: 1}
	return &joint{limit: limit, random: random, members: members, all: []combination{nothing}}
}

// mean returns the mean of the members' shares.
func (c combination) mean() float64 {
	sum := 0.0
	for _, v := range c.shares {
		sum += v
	}
	return sum / float64(len(c.shares))
}

// entropy returns the joint entropy of the labels in nats.
func (j *joint) entropy() float64 {
	sum := 0.0
	for _, c := range j.all {
		if p := c.mean(); p > 0 {
			sum -= c.weight * p * (math.Log(p) + c.logScale)
		}
	}
	return sum
}

// block is the number of combinations that are summed together, so that sums do not depend on
// the number of cores.
const block = 256

// with returns the joint entropy with one more example.
func (j *joint) with(draws [][][]float64, i int) float64 {
	sums := make([]float64, (len(j.all)+block-1)/block)
	inParts(len(sums), func(from, to int) {
		for b := from; b < to; b++ {
			for _, c := range j.all[b*block : min((b+1)*block, len(j.all))] {
				sums[b] += c.with(draws, i)
			}
		}
	})
	sum := 0.0
	for _, s := range sums {
		sum += s
	}
	return sum
}

// with returns the contribution of the combination with one more label to the joint entropy.
func (c combination) with(draws [][][]float64, i int) float64 {
	sum := 0.0
	for y := range draws[0][i] {
		p := 0.0
		for m, share := range c.shares {
			p += share * draws[m][i][y]
		}
		if p /= float64(len(c.shares)); p > 0 {
			sum -= c.weight * p * (math.Log(p) + c.logScale)
		}
	}
	return sum
}

// add adds an example to the batch.
func (j *joint) add(draws [][][]float64, i int) {
	classes := len(draws[0][i])
	if !j.sampled && len(j.all)*classes > j.limit {
		j.sample()
	}
	var grown []combination
	for _, c := range j.all {
		options := make([]combination, classes)
		for y := range options {
			o := combination{shares: make([]float64, j.members), logScale: c.logScale, weight: c.weight}
			for m, share := range c.shares {
				o.shares[m] = share * draws[m][i][y]
			}
			options[y] = o
		}
		if j.sampled {
			o := options[drawIndex(options, j.random)]
			grown = append(grown, o.scaled(float64(len(j.all))))
			continue
		}
		grown = append(grown, options...)
	}
	j.all = grown
}

// sample replaces the combinations by samples of them.
func (j *joint) sample() {
	samples := make([]combination, j.limit)
	for k := range samples {
		samples[k] = j.all[drawIndex(j.all, j.random)].scaled(float64(len(samples)))
	}
	j.all, j.sampled = samples, true
}

// scaled returns one of n samples. Its shares are scaled to a mean of 1, so that all samples
// have equal weight.
func (c combination) scaled(n float64) combination {
	mean := c.mean()
	s := combination{shares: make([]float64, len(c.shares)), logScale: c.logScale + math.Log(mean), weight: 1 / n}
	for m, v := range c.shares {
		s.shares[m] = v / mean
	}
	return s
}

// drawIndex draws a combination with probabilities proportional to the means.
func drawIndex(of []combination, random *rand.Rand) int {
	total := 0.0
	for _, c := range of {
		total += c.mean()
	}
	at := random.Float64() * total
	last := 0
	for k, c := range of {
		if p := c.mean(); p > 0 {
			last = k
			if at -= p; at < 0 {
				break
			}
		}
	}
	return last
}

// Deviation selects the examples about whose targets the models of a committee disagree most: the
// highest standard deviation of their predictions, the mean over the targets (RayChaudhuri and
// Hamey, 1995). It is for regression. The members are those of [VoteEntropy]; the model of [Query]
// is not used and may be nil.
//
// Targets of different sizes should be standardized: the largest would decide alone.
func Deviation(members ...nn.Module) Strategy {
	return committee("Deviation", members, (*Candidates).outputs, deviations)
}

// deviations returns the standard deviation of each example over the members, the mean over the
// targets. outputs are [member][example][target].
func deviations(outputs [][][]float64) []float64 {
	return scoreEach(outputs, func(members [][]float64, mean []float64) (score float64) {
		for k, m := range mean {
			squares := 0.0
			for _, member := range members {
				squares += (member[k] - m) * (member[k] - m) / float64(len(members))
			}
			score += math.Sqrt(squares) / float64(len(mean))
		}
		return score
	})
}

// BinaryEntropy selects the examples about whose labels the model is least certain, where each
// example has several labels that are each 0 or 1, given as targets: the highest mean over the
// labels of -p ln p - (1-p) ln(1-p), with p the sigmoid of the model's logit. Such a model is trained
// with nn.BCEWithLogits.
func BinaryEntropy() Strategy {
	return strategy{"BinaryEntropy", func(ctx context.Context, c *Candidates, n int) ([]int, error) {
		rows, err := c.outputs(ctx)
		if err != nil {
			return nil, err
		}
		scores := make([]float64, len(rows))
		for i, logits := range rows {
			for _, v := range logits {
				p := 1 / (1 + math.Exp(-v))
				scores[i] += stat.Entropy([]float64{p, 1 - p}) / float64(len(logits))
			}
		}
		return c.Top(scores, n)
	}}
}

// outputs returns what the model predicts for the targets of the candidates, [candidate][target].
func (c *Candidates) outputs(ctx context.Context) ([][]float64, error) {
	switch {
	case c.pool.targets == nil:
		return nil, fmt.Errorf("active: the examples of %s have classes: use Margin, or a committee such as VoteEntropy", c.pool.set.Name())
	case len(c.pool.order) == 0:
		return nil, errors.New("active: there are no labels yet: select the first examples by Random or TypiClust")
	case c.model == nil:
		return nil, errNoModel
	}
	defer nn.Eval(c.model)()
	rows, err := apply(ctx, c.Dataset(), c.model.Forward)
	if err != nil {
		return nil, err
	}
	outputs := make([][]float64, len(rows))
	for i, row := range rows {
		if len(row) != c.pool.set.Targets() {
			return nil, fmt.Errorf("active: the model returns %d values, but %s has %d targets", len(row), c.pool.set.Name(), c.pool.set.Targets())
		}
		outputs[i] = make([]float64, len(row))
		for k, v := range row {
			if outputs[i][k] = float64(v); v-v != 0 {
				return nil, &NotFiniteError{What: "the model's output", Example: c.index[i]}
			}
		}
	}
	return outputs, nil
}
