package metrics

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/tensor"
)

// ofCount are the options of metrics of the numbers of each class.
var ofCount = []string{"Threshold", "Probabilities", "IgnoreIndex"}

// Accuracy returns the share of correct predictions, from 0 to 1: of examples, of tokens for
// sequences, and of labels for several labels. The options are [Threshold], [Probabilities] and
// [IgnoreIndex].
func Accuracy(options ...Option) Metric {
	m := define(Metric{base: "accuracy", code: "Accuracy", takes: ofCount, share: true, key: "counts"}, nil, options, newCounts,
		func(c *counts, _ settings) ([]float64, error) {
			if c.Counted == 0 {
				return nil, empty()
			}
			right := total(c.True)
			if c.Kind == labels { // those without a label count too
				right = c.Counted - total(c.Predicted) - total(c.Actual) + 2*right
			}
			return []float64{float64(right) / float64(c.Counted)}, nil
		})
	return m.withoutAverage("Accuracy has no average: Recall(Macro) is the mean accuracy of the classes")
}

// Precision returns the share of the predictions of a class that are correct, TP/(TP+FP), and 0
// without predictions of the class. The options are [Micro], [Macro], [Weighted], [PerClass],
// [OfClass], [Threshold], [Probabilities] and [IgnoreIndex].
func Precision(options ...Option) Metric {
	return counted("precision", "Precision", nil, options, func(n tally) float64 {
		return share(float64(n.right), float64(n.predicted))
	})
}

// Recall returns the share of the examples of a class that are predicted, TP/(TP+FN), and 0
// without examples of the class. Its options are those of [Precision].
func Recall(options ...Option) Metric {
	return counted("recall", "Recall", nil, options, func(n tally) float64 {
		return share(float64(n.right), float64(n.actual))
	})
}

// F1 returns the harmonic mean of precision and recall, 2·TP/(2·TP+FP+FN), and 0 for a class
// that occurs neither in the targets nor in the predictions. Its options are those of
// [Precision].
func F1(options ...Option) Metric {
	return counted("F1", "F1", nil, options, f1)
}

func f1(n tally) float64 { return share(2*float64(n.right), float64(n.predicted+n.actual)) }

// FBeta returns the harmonic mean of precision and recall in which recall has beta times the weight of
// precision, (1+β²)·TP/((1+β²)·TP+β²·FN+FP), and 0 for a class that occurs neither in the targets nor in
// the predictions (van Rijsbergen, 1979). FBeta(1) is [F1]. Its options are those of [Precision].
func FBeta(beta float64, options ...Option) Metric {
	m := counted(fmt.Sprintf("F%g", beta), "FBeta", []string{fmt.Sprint(beta)}, options, func(n tally) float64 {
		square := beta * beta
		return share((1+square)*float64(n.right), float64(n.predicted)+square*float64(n.actual))
	})
	if !(beta > 0 && beta < 1e100) {
		m.err = fmt.Errorf("metrics: FBeta(%v): beta must be positive and finite", beta)
	}
	return m
}

// Specificity returns the share of the examples of other classes that are not predicted to be of a
// class, TN/(TN+FP), and 0 if all examples are of the class. Its options are those of [Precision].
func Specificity(options ...Option) Metric {
	return counted("specificity", "Specificity", nil, options, func(n tally) float64 {
		others := n.all - n.actual
		return share(float64(others-(n.predicted-n.right)), float64(others))
	})
}

// Jaccard returns the intersection over union of the examples of a class and of its predictions,
// TP/(TP+FP+FN), also called IoU, and 0 for a class that occurs in neither. For segmentation it takes a
// class for each pixel. [Macro] leaves out the class of [IgnoreIndex], as torchmetrics does here and not for [F1]. Its
// options are those of [Precision].
func Jaccard(options ...Option) Metric {
	of := func(n tally) float64 { return share(float64(n.right), float64(n.predicted+n.actual-n.right)) }
	return ofCounts("Jaccard", "Jaccard", nil, options, func(c *counts, s settings) ([]float64, error) {
		s.dropsIgnored = true // from the mean, as torchmetrics does here and not for F1
		return c.averaged(s, of)
	})
}

// Dice returns [F1] by its name in segmentation, 2·TP/(2·TP+FP+FN) over the pixels of all images. Its
// options are those of [Precision].
func Dice(options ...Option) Metric { return counted("Dice", "Dice", nil, options, f1) }

// MatthewsCorrCoef returns the correlation of predictions and targets, from -1 to 1, also for several
// classes (Gorodkin, 2004): 1 for correct ones, 0 for those of chance, and 0 if all predictions, or all
// targets, are of the same class, as in scikit-learn. With several labels each element is a question of
// its own. The options are [Threshold], [Probabilities] and [IgnoreIndex].
func MatthewsCorrCoef(options ...Option) Metric {
	return agreement("MCC", "MatthewsCorrCoef", options, func(right, all, product, predicted, actual float64) (float64, error) {
		return share(right*all-product, math.Sqrt((all*all-predicted)*(all*all-actual))), nil
	})
}

// CohenKappa returns the agreement of predictions and targets beyond that of chance (Cohen, 1960), at most
// 1: (a - e)/(1 - e) with the accuracy a and the one e that independent classes with the same frequencies
// would have. It is an [*UndefinedError] if all predictions and targets are of one class. Its options are
// those of [MatthewsCorrCoef].
func CohenKappa(options ...Option) Metric {
	return agreement("kappa", "CohenKappa", options, func(right, all, product, _, _ float64) (float64, error) {
		if product == all*all {
			return 0, &UndefinedError{Class: -1, Reason: "all predictions and targets are of one class"}
		}
		return (right*all - product) / (all*all - product), nil
	})
}

// agreement returns a metric of the numbers of correct predictions and of examples, and of the sums over
// the classes of predictions times examples, of squared predictions and of squared examples.
func agreement(name, code string, options []Option, of func(right, all, product, predicted, actual float64) (float64, error)) Metric {
	m := define(Metric{base: name, code: code, takes: ofCount, key: "counts"}, nil, options, newCounts,
		func(c *counts, _ settings) ([]float64, error) {
			if c.Counted == 0 {
				return nil, empty()
			}
			var right, product, predicted, actual float64
			for _, n := range c.classes() {
				p, t := float64(n.predicted), float64(n.actual)
				right, product, predicted, actual = right+float64(n.right), product+p*t, predicted+p*p, actual+t*t
			}
			v, err := of(right, float64(c.Counted), product, predicted, actual)
			return []float64{v}, err
		})
	return m.withoutAverage(code + " is one value for all classes")
}

// classes returns the numbers of each class. Several labels are one question with the answers no and yes.
func (c *counts) classes() (all []tally) {
	if c.Kind != labels {
		for k := range c.True {
			all = append(all, c.of(k))
		}
		return all
	}
	yes := tally{total(c.True), total(c.Predicted), total(c.Actual), c.Counted}
	no := tally{yes.all - yes.predicted - yes.actual + yes.right, yes.all - yes.predicted, yes.all - yes.actual, yes.all}
	return []tally{no, yes}
}

// counted returns a metric of the numbers of each class.
func counted(name, code string, arguments []string, options []Option, of func(tally) float64) Metric {
	return ofCounts(name, code, arguments, options, func(c *counts, s settings) ([]float64, error) { return c.averaged(s, of) })
}

// ofCounts returns a metric that is an average over the classes.
func ofCounts(name, code string, arguments []string, options []Option, compute func(*counts, settings) ([]float64, error)) Metric {
	return define(Metric{base: name, code: code, takes: append(slices.Clone(averages), ofCount...), share: true, key: "counts"}, arguments, options, newCounts, compute)
}

// ConfusionMatrix counts the examples by class and predicted class; see
// [Collection.ConfusionMatrix]. It has no value of its own. The options are [Threshold],
// [Probabilities] and [IgnoreIndex].
func ConfusionMatrix(options ...Option) Metric {
	m := define(Metric{base: "confusion matrix", code: "ConfusionMatrix", takes: ofCount, key: "counts"}, nil, options, newCounts,
		func(*counts, settings) ([]float64, error) { return nil, nil })
	m.prepare = func(st state) { st.(*counts).keepMatrix = true }
	return m.withoutAverage("a confusion matrix has no average")
}

// withoutAverage says why a metric does not take the options that select an average or a class.
func (m Metric) withoutAverage(why string) Metric {
	if other, ok := errors.AsType[*option.Error](m.err); ok && slices.Contains(averages, other.Name) {
		m.err = fmt.Errorf("%w; %s", m.err, why)
	}
	return m
}

// hits is the number of examples whose class is among the first predictions.
type hits struct {
	Right, Examples int

	k    int
	seen int
	s    settings
	pending
}

func (c *hits) update(prediction, target *tensor.Tensor) error {
	b, err := classified("metrics.TopK", prediction, target)
	if err != nil {
		return err
	}
	if b.kind != classes || c.k > b.width {
		return &tensor.ShapeError{Op: "metrics.TopK", Shapes: [][]int{prediction.Shape(), target.Shape()}, Hint: fmt.Sprintf("it takes logits of at least %d classes and a class for each example", c.k)}
	}
	first := c.seen
	c.seen += b.n
	values, indices := b.prediction.TopK(c.k, 1, true)
	return c.later(func() error {
		if err := finite(values, first, c.k); err != nil {
			return err
		}
		t, err := b.targets(first, c.s)
		if err != nil {
			return err
		}
		predicted := indices.Ints()
		for i, t := range t {
			if c.s.leavesOut(t) {
				continue
			}
			if slices.Contains(predicted[i*c.k:(i+1)*c.k], t) {
				c.Right++
			}
			c.Examples++
		}
		return nil
	})
}

func (c *hits) merge(other state) error { //nolint:unparam // a state
	o := other.(*hits)
	c.Right += o.Right
	c.Examples += o.Examples
	return nil
}

// TopK returns the share of examples, or tokens, whose class is among the k with the largest
// logits; of equal logits the first count as larger, so that TopK(1) is [Accuracy]. With ties, PyTorch's
// topk may choose any, and scikit-learn's top_k_accuracy_score chooses the last. The option is [IgnoreIndex].
func TopK(k int, options ...Option) Metric {
	base := Metric{base: fmt.Sprintf("top-%d accuracy", k), code: "TopK", takes: []string{"IgnoreIndex"}, share: true, key: fmt.Sprintf("hits %d", k)}
	if k < 1 {
		base.err = fmt.Errorf("metrics: TopK(%d): the number must be at least 1", k)
	}
	m := define(base, []string{fmt.Sprint(k)}, options, func(s settings) *hits { return &hits{k: k, s: s} },
		func(c *hits, _ settings) ([]float64, error) {
			if c.Examples == 0 {
				return nil, empty()
			}
			return []float64{float64(c.Right) / float64(c.Examples)}, nil
		})
	return m.withoutAverage("TopK has no average over classes")
}
