package accel

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/nn"
)

// Scores returns for each example of a data set the score that a classifier gives to one class, and whether the
// example is of that class, in the order of the data set: what package calibrate, metrics.ROC and
// metrics.PrecisionRecall take. A score is the logarithm of the odds, ln(p/(1-p)), so the probability is
// 1/(1 + e^(-score)). For two classes it is the difference of their logits.
//
// The model returns logits [N, C] for the classes of the data set. In a data set whose targets are each 0 or 1, class is
// the index of the target, and its logit is the score. Errors are those of [PredictDataset].
func Scores(ctx context.Context, model nn.Module, set *data.Dataset, class int) (scores []float64, positive []bool, err error) {
	if err := interrupt.RequireContext(ctx, "accel: Scores"); err != nil {
		return nil, nil, err
	}
	if set == nil {
		return nil, nil, errors.New("accel: Scores: the data set is nil: check the error returned where it was created")
	}
	outputs := max(set.Targets(), len(set.Classes()))
	switch {
	case set.SequenceLength() > 0:
		return nil, nil, fmt.Errorf("accel: Scores: the examples of %s have a class at each position", set.Name())
	case set.Unlabeled():
		return nil, nil, fmt.Errorf("accel: Scores: the examples of %s have no labels: add them with WithLabels", set.Name())
	case class < 0 || class >= outputs:
		return nil, nil, fmt.Errorf("accel: Scores: the class %d of %s must be from 0 to %d", class, set.Name(), outputs-1)
	case set.Targets() == 0 && outputs < 2:
		return nil, nil, fmt.Errorf("accel: Scores: %s has only one class", set.Name())
	}
	y, err := PredictDataset(ctx, model, set)
	if err != nil {
		return nil, nil, err
	}
	if y.NDim() != 2 || y.Size(1) != outputs {
		return nil, nil, fmt.Errorf("accel: Scores: the model returns %v, but must return logits [N %d] for %s", y.Shape(), outputs, set.Name())
	}
	scores, positive = make([]float64, set.Len()), make([]bool, set.Len())
	for i, logits := 0, y.Float64s(); i < len(scores); i++ {
		row := logits[i*outputs : (i+1)*outputs]
		if set.Targets() == 0 {
			if scores[i], positive[i] = logOdds(row, class), set.Label(i) == class; math.IsNaN(scores[i]) {
				return nil, nil, scoreIsNaN(i, set)
			}
			continue
		}
		target := set.Target(i)[class]
		if target != 0 && target != 1 {
			return nil, nil, fmt.Errorf("accel: Scores: target %d of example %d of %s is %g: it must be 0 or 1", class, i, set.Name(), target)
		}
		if scores[i], positive[i] = row[class], target == 1; math.IsNaN(scores[i]) {
			return nil, nil, scoreIsNaN(i, set)
		}
	}
	return scores, positive, nil
}

func scoreIsNaN(i int, set *data.Dataset) error {
	return fmt.Errorf("accel: Scores: the score of example %d of %s is NaN: check whether training has diverged or the example contains NaN", i, set.Name())
}

// logOdds returns the logit of a class less the logarithm of the sum of the exponentials of the others.
func logOdds(logits []float64, class int) float64 {
	highest, sum := math.Inf(-1), 0.0
	for k, v := range logits {
		if k != class {
			highest = max(highest, v)
		}
	}
	if math.IsInf(highest, 0) {
		return logits[class] - highest
	}
	for k, v := range logits {
		if k != class {
			sum += math.Exp(v - highest)
		}
	}
	return logits[class] - highest - math.Log(sum)
}
