package active

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/nn"
)

// Deviation selects the examples about whose targets the models of a committee disagree most: the
// highest standard deviation of their predictions, the mean over the targets (RayChaudhuri and
// Hamey, 1995). It is for regression. The members are those of [VoteEntropy]; the model of [Query]
// is not used and may be nil.
//
// Targets of different sizes should be standardized: the largest would decide alone.
func Deviation(members ...nn.Module) Strategy { return deviation{members} }

type deviation struct{ members []nn.Module }

func (s deviation) Select(ctx context.Context, c *Candidates, n int) ([]int, error) {
	if len(s.members) < 2 {
		return nil, fmt.Errorf("active: %v: a committee needs at least 2 models, got %d", s, len(s.members))
	}
	outputs := make([][][]float64, len(s.members))
	for m, model := range s.members {
		rows, err := c.outputs(ctx, model)
		if err != nil {
			return nil, fmt.Errorf("active: %v: model %d: %w", s, m, err)
		}
		outputs[m] = rows
	}
	return c.Top(deviations(outputs), n)
}

func (deviation) String() string { return "Deviation" }

// deviations returns the standard deviation of each example over the members, the mean over the
// targets. outputs are [member][example][target].
func deviations(outputs [][][]float64) []float64 {
	members := float64(len(outputs))
	scores := make([]float64, len(outputs[0]))
	for i := range scores {
		for k := range outputs[0][i] {
			mean, squares := 0.0, 0.0
			for _, member := range outputs {
				mean += member[i][k] / members
			}
			for _, member := range outputs {
				squares += (member[i][k] - mean) * (member[i][k] - mean) / members
			}
			scores[i] += math.Sqrt(squares) / float64(len(outputs[0][i]))
		}
	}
	return scores
}

// BinaryEntropy selects the examples about whose labels the model is least certain, where each
// example has several labels that are each 0 or 1, given as targets: the highest mean over the
// labels of -p ln p - (1-p) ln(1-p), with p the sigmoid of the model's logit. Such a model is trained
// with nn.BCEWithLogits.
func BinaryEntropy() Strategy { return binaryEntropy{} }

type binaryEntropy struct{}

func (s binaryEntropy) Select(ctx context.Context, c *Candidates, n int) ([]int, error) {
	rows, err := c.outputs(ctx, c.model)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(rows))
	for i, logits := range rows {
		for _, v := range logits {
			p := 1 / (1 + math.Exp(-v))
			scores[i] += entropy([]float64{p, 1 - p}) / float64(len(logits))
		}
	}
	return c.Top(scores, n)
}

func (binaryEntropy) String() string { return "BinaryEntropy" }

// outputs returns what a model predicts for the targets of the candidates, [candidate][target].
func (c *Candidates) outputs(ctx context.Context, model nn.Module) ([][]float64, error) {
	switch {
	case c.pool.targets == nil:
		return nil, fmt.Errorf("active: the examples of %s have classes: use Margin, or a committee such as VoteEntropy", c.pool.set.Name())
	case len(c.pool.order) == 0:
		return nil, errors.New("active: there are no labels yet: select the first examples by Random or TypiClust")
	case model == nil:
		return nil, errNoModel
	}
	defer nn.Eval(model)()
	rows, err := apply(ctx, c.Dataset(), model.Forward)
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
