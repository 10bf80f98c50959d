package active

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/nn"
)

// Strategy selects examples to label. Custom types can implement it.
type Strategy interface {
	// Select returns n different candidates, as indices in c from 0, the most important first.
	// Query ensures that there are at least n.
	Select(ctx context.Context, c *Candidates, n int) ([]int, error)
	// String returns the name of the strategy.
	String() string
}

// strategy is a strategy of this package.
type strategy struct {
	name   string
	choose func(ctx context.Context, c *Candidates, n int) ([]int, error)
}

func (s strategy) Select(ctx context.Context, c *Candidates, n int) ([]int, error) {
	return s.choose(ctx, c, n)
}

func (s strategy) String() string { return s.name }

// Query selects n unlabeled examples with a strategy (nil means [Margin]) and returns their
// indices in [Pool.Dataset], the most important first. Of several examples with the same values
// it selects one, and none that equals a labeled one, as long as there are others.
//
// The model must return logits [N, C] for the classes of the data set. Query uses it in
// evaluation mode and restores its mode. It may be nil for [Random], [TypiClust] and [CoreSet],
// which then use the values of the examples. Other errors than those of this package are those
// of accel.Fit.
func Query(ctx context.Context, model nn.Module, pool *Pool, strategy Strategy, n int) (pick []int, err error) {
	if err := interrupt.RequireContext(ctx, "active: Query"); err != nil {
		return nil, err
	}
	defer nn.Catch(&err)
	if err := pool.Err(); err != nil {
		return nil, err
	}
	switch {
	case n < 1:
		return nil, fmt.Errorf("active: Query: the number of examples is %d, but must be at least 1", n)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	if strategy == nil {
		strategy = Margin()
	}
	if s, ok := strategy.(synthesizer); ok {
		return s.make(ctx, model, pool, n)
	}
	if n > pool.Left() {
		return nil, &TooFewError{Asked: n, Left: pool.Left()}
	}
	fresh, repeated := pool.candidates()
	random := pool.random()
	if len(fresh) > 0 {
		c := &Candidates{pool: pool, model: model, index: fresh, random: random}
		if pick, err = c.selected(ctx, strategy, min(n, len(fresh))); err != nil {
			return nil, err
		}
	}
	for _, k := range random.Perm(len(repeated)) {
		if len(pick) == n {
			break
		}
		pick = append(pick, repeated[k])
	}
	return pick, nil
}

// synthesizer is a strategy that makes new examples instead of selecting existing ones.
type synthesizer interface {
	make(ctx context.Context, model nn.Module, pool *Pool, n int) ([]int, error)
}

// selected calls a strategy and checks its selection.
func (c *Candidates) selected(ctx context.Context, strategy Strategy, n int) ([]int, error) {
	chosen, err := strategy.Select(ctx, c, n)
	if err != nil {
		return nil, err
	}
	if len(chosen) != n {
		return nil, fmt.Errorf("active: %v selected %d examples, want %d", strategy, len(chosen), n)
	}
	pick, seen := make([]int, n), make(map[int]bool, n)
	for k, at := range chosen {
		if at < 0 || at >= len(c.index) || seen[at] {
			return nil, fmt.Errorf("active: %v selected candidate %d of %d twice or out of range", strategy, at, len(c.index))
		}
		seen[at] = true
		pick[k] = c.index[at]
	}
	return pick, nil
}

// errNoModel is returned if a strategy needs a model.
var errNoModel = errors.New("active: the model is nil; only Random, TypiClust and CoreSet work without one")

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
	if err := interrupt.RequireContext(ctx, "active: PseudoLabels"); err != nil {
		return nil, err
	}
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
