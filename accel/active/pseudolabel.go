package active

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
)

// ErrUnsure is returned by [PseudoLabels] if the model is not sure of any example.
var ErrUnsure = errors.New("active: the model is not sure of any example")

// PseudoLabels returns the examples of a data set of which a model is sure, with the class that it predicts as their
// label, for semi-supervised training together with labeled examples (Lee, Pseudo-Label, 2013):
//
//	sure, err := active.PseudoLabels(ctx, model, unlabeled, 0.95, 100)
//	all, err := data.Concat(labeled, sure)
//	run, err := accel.Fit(ctx, newModel(), all)
//
// Sure means that the highest probability is at least threshold, which is above 0 and at most 1; scikit-learn's
// SelfTrainingClassifier does the same. Of each class it returns at most the given number of examples, those with the
// highest probabilities, so that no class outweighs the others; 0 is no limit. They are in the order of the
// data set, whose labels, if it has any, are not used. Probabilities of networks are often too high: compare the
// labels of a few examples, or see package calibrate.
//
// The model returns logits [N, C] for the classes of the data set, and is used in evaluation mode. The error is
// [ErrUnsure] if there is no such example, a [*NotFiniteError] if a logit is not finite, or one of
// accel.PredictDataset.
func PseudoLabels(ctx context.Context, model nn.Module, set *data.Dataset, threshold float64, perClass int) (*data.Dataset, error) {
	switch {
	case set == nil:
		return nil, errors.New("active: PseudoLabels: the data set is nil: check the error returned where it was created")
	case set.Targets() > 0 || set.SequenceLength() > 0:
		return nil, fmt.Errorf("active: PseudoLabels: the examples of %s do not have one class each", set.Name())
	case !(threshold > 0 && threshold <= 1) || perClass < 0:
		return nil, fmt.Errorf("active: PseudoLabels: the threshold %g must be above 0 and at most 1, and the number %d per class at least 0", threshold, perClass)
	case set.Len() == 0:
		return nil, fmt.Errorf("%w: %s is empty", ErrUnsure, set.Name())
	}
	logits, err := accel.PredictDataset(ctx, model, set)
	if err != nil {
		return nil, err
	}
	classes := len(set.Classes())
	if logits.NDim() != 2 || logits.Size(1) != classes {
		return nil, fmt.Errorf("active: PseudoLabels: the model returns %v, but %s has %d classes: it must return logits [N %[3]d]", logits.Shape(), set.Name(), classes)
	}
	type example struct {
		index, class int
		probability  float64
	}
	var sure []example
	highest, p, rows := 0.0, make([]float64, classes), logits.Data()
	for i := range set.Len() {
		if !softmax(p, rows[i*classes:(i+1)*classes]) {
			return nil, &NotFiniteError{What: "the model's output", Example: i}
		}
		e := example{i, 0, p[0]}
		for c, v := range p {
			if v > e.probability {
				e.class, e.probability = c, v
			}
		}
		if highest = max(highest, e.probability); e.probability >= threshold {
			sure = append(sure, e)
		}
	}
	if len(sure) == 0 {
		return nil, fmt.Errorf("%w: the highest probability is %.3g, below the threshold %g", ErrUnsure, highest, threshold)
	}
	if perClass > 0 {
		slices.SortStableFunc(sure, func(a, b example) int { return cmp.Compare(b.probability, a.probability) })
		counts := make([]int, classes)
		sure = slices.DeleteFunc(sure, func(e example) bool { counts[e.class]++; return counts[e.class] > perClass })
		slices.SortFunc(sure, func(a, b example) int { return a.index - b.index })
	}
	index, labels := make([]int, len(sure)), make([]int, len(sure))
	for k, e := range sure {
		index[k], labels[k] = e.index, e.class
	}
	part, err := set.Subset(index)
	if err != nil {
		return nil, err
	}
	return part.WithLabels(labels)
}
