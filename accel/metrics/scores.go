package metrics

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/quernlab/quern/accel/tensor"
)

// scores are the predictions and targets of all examples, which curves need.
type scores struct {
	Kind   kind
	Width  int
	Scores []float64 // Width for each example; for classes logarithms of probabilities
	Target []int     // class of each example; for labels 0 or 1 for each score, -1 if it is left out

	seen int
	s    settings
	pending
}

func newScores(s settings) *scores { return &scores{s: s} }

func (c *scores) update(prediction, target *tensor.Tensor) error {
	b, err := classified("metrics", prediction, target)
	if err != nil {
		return err
	}
	if err := b.fits("metrics", c.Kind, c.Width); err != nil {
		return err
	}
	c.Kind, c.Width = b.kind, b.width
	first := c.seen
	c.seen += b.n
	// Logits of different examples cannot be compared, but logarithms of probabilities can. They
	// have the order of the probabilities, without equal values where these round to 0 or 1.
	normalize := b.kind == classes && !c.s.probabilities
	return c.later(func() error {
		if err := finite(b.prediction, first, b.width); err != nil {
			return err
		}
		t, err := b.targets(first, c.s)
		if err != nil {
			return err
		}
		values := b.prediction.Float64s()
		for i := range b.n {
			row := values[i*b.width : (i+1)*b.width]
			if b.kind == labels {
				c.Target = append(c.Target, t[i*b.width:(i+1)*b.width]...)
			} else if c.s.leavesOut(t[i]) {
				continue
			} else {
				c.Target = append(c.Target, t[i])
			}
			if normalize {
				logSoftmax(row)
			}
			c.Scores = append(c.Scores, row...)
		}
		return nil
	})
}

// logSoftmax replaces logits by logarithms of probabilities. Rows that differ by a constant, or in the order of the other classes, have
// equal ones, and those next to 0, of certain predictions, differ as long as the logits do: the largest logit is subtracted before
// anything is added, and its own share of the sum, 1, only in Log1p.
func logSoftmax(row []float64) {
	floats.AddConst(-floats.Max(row), row)
	others := slices.Clone(row)
	slices.Sort(others)
	sum := 0.0
	for _, v := range others[:len(others)-1] {
		sum += math.Exp(v)
	}
	floats.AddConst(-math.Log1p(sum), row)
}

func (c *scores) merge(other state) error {
	o := other.(*scores)
	if c.Kind != 0 && o.Kind != 0 && (c.Kind != o.Kind || c.Width != o.Width) {
		return fmt.Errorf("metrics: the states to merge have %d and %d logits for each example", c.Width, o.Width)
	}
	if o.Kind != 0 {
		c.Kind, c.Width = o.Kind, o.Width
	}
	c.Scores = append(c.Scores, o.Scores...)
	c.Target = append(c.Target, o.Target...)
	return nil
}

// of returns the scores of one class or label and whether the examples have it.
func (c *scores) of(class int) (values []float64, positive []bool) {
	if c.Kind == binary {
		class = 0
	}
	for i := class; i < len(c.Scores); i += c.Width {
		if c.Kind == labels && c.Target[i] < 0 {
			continue
		}
		values = append(values, c.Scores[i])
		switch c.Kind {
		case classes:
			positive = append(positive, c.Target[i/c.Width] == class)
		default:
			positive = append(positive, c.Target[i] == 1)
		}
	}
	return values, positive
}

// curve measures the curve of one class, or of all classes together.
type curve func(scores []float64, positive []bool) (float64, error)

// averaged reduces the value of the curve of each class as the settings say.
func (c *scores) averaged(s settings, measure curve) ([]float64, error) {
	if len(c.Target) == 0 {
		return nil, empty()
	}
	if c.Kind == binary {
		if s.average == ofClass && s.class != 1 || s.average != ofClass && s.average != natural {
			return nil, &UndefinedError{Class: -1, Reason: "with one logit there is only the curve of class 1: leave out the average"}
		}
		v, err := measure(c.of(1))
		return []float64{v}, err
	}
	if s.average == micro {
		var values []float64
		var all []bool
		for class := range c.Width {
			v, positive := c.of(class)
			values, all = append(values, v...), append(all, positive...)
		}
		v, err := measure(values, all)
		return []float64{v}, err
	}
	if s.average == ofClass {
		if s.class >= c.Width {
			return pick(make([]float64, c.Width), s.class)
		}
		v, err := c.ofClass(s.class, measure)
		return []float64{v}, err
	}
	each := make([]float64, c.Width)
	sum, weights := 0.0, 0.0
	for class := range each {
		v, err := c.ofClass(class, measure)
		if err != nil {
			return nil, err
		}
		weight := 1.0
		if s.average == weighted {
			_, positive := c.of(class)
			weight = 0
			for _, p := range positive {
				if p {
					weight++
				}
			}
		}
		each[class] = v
		sum, weights = sum+weight*v, weights+weight
	}
	if s.average == perClass {
		return each, nil
	}
	return []float64{sum / weights}, nil
}

// ofClass measures the curve of one class.
func (c *scores) ofClass(class int, measure curve) (float64, error) {
	v, err := measure(c.of(class))
	if undefined, ok := errors.AsType[*UndefinedError](err); ok {
		undefined.Class = class
		undefined.Reason += fmt.Sprintf(" of class %d: use examples of all classes, Micro or OfClass", class)
	}
	return v, err
}

// ROCAUC returns the area under the ROC curve: of the positive class for two classes with one
// logit, else of each class or label against the others, averaged as the options say ([Micro],
// [Macro], [Weighted], [PerClass], [OfClass]). It keeps the predictions of all examples. Further
// options are [Probabilities] and [IgnoreIndex]. [Collection.ROC] has the curve.
//
// A class without examples, or without examples of other classes, is an [*UndefinedError].
func ROCAUC(options ...Option) Metric {
	return ofCurve("ROC AUC", "ROCAUC", options, func(scores []float64, positive []bool) (float64, error) {
		curve, err := ROC(scores, positive)
		if err != nil {
			return math.NaN(), err
		}
		return curve.AUC(), nil
	})
}

// AveragePrecision returns the area under the precision-recall curve, [PRCurve.AveragePrecision].
// Its options and errors are those of [ROCAUC]; [Collection.PrecisionRecall] has the curve.
func AveragePrecision(options ...Option) Metric {
	return ofCurve("average precision", "AveragePrecision", options, func(scores []float64, positive []bool) (float64, error) {
		curve, err := PrecisionRecall(scores, positive)
		if err != nil {
			return math.NaN(), err
		}
		return curve.AveragePrecision(), nil
	})
}

// ofCurve returns a metric of the curve of each class.
func ofCurve(base, code string, options []Option, measure curve) Metric {
	takes := append(slices.Clone(averages), "Probabilities", "IgnoreIndex")
	return define(Metric{base: base, code: code, takes: takes, share: true, key: "scores"}, nil, options, newScores,
		func(c *scores, s settings) ([]float64, error) { return c.averaged(s, measure) })
}

// ROCCurve is the receiver operating characteristic of a score that tells positive examples from
// negative ones: element i is what predicting "positive" for scores of at least Thresholds[i]
// gives. It begins with an infinite threshold, at which nothing is predicted.
type ROCCurve struct {
	FalsePositiveRate []float64 // share of the negative examples that are predicted
	TruePositiveRate  []float64 // share of the positive examples that are predicted
	Thresholds        []float64 // falling
}

// PRCurve is precision and recall of a score that tells positive examples from negative ones, by
// threshold as in [ROCCurve]. It begins with recall 0, where the precision is 1 by definition.
type PRCurve struct {
	Precision  []float64 // share of the predictions that are correct
	Recall     []float64 // share of the positive examples that are predicted
	Thresholds []float64 // falling
}

// ROC returns the ROC curve of scores; positive has the same length. Equal scores are one point
// of the curve. It fails with an [*UndefinedError] unless there are positive and negative
// examples, and with a [*NonFiniteError] for a score that is NaN.
func ROC(scores []float64, positive []bool) (*ROCCurve, error) {
	hits, alarms, thresholds, err := ranked(scores, positive)
	if err != nil {
		return nil, err
	}
	p, n := hits[len(hits)-1], alarms[len(alarms)-1]
	switch {
	case p == 0:
		return nil, &UndefinedError{"ROC", -1, "there are no positive examples"}
	case n == 0:
		return nil, &UndefinedError{"ROC", -1, "there are no negative examples"}
	}
	c := &ROCCurve{Thresholds: thresholds}
	for i := range hits {
		c.TruePositiveRate = append(c.TruePositiveRate, float64(hits[i])/float64(p))
		c.FalsePositiveRate = append(c.FalsePositiveRate, float64(alarms[i])/float64(n))
	}
	return c, nil
}

// AUC returns the area under the curve, by the trapezoidal rule: the probability that a positive
// example has a higher score than a negative one, where equal scores count half.
func (c *ROCCurve) AUC() float64 {
	area := 0.0
	for i := 1; i < len(c.Thresholds); i++ {
		area += (c.FalsePositiveRate[i] - c.FalsePositiveRate[i-1]) * (c.TruePositiveRate[i] + c.TruePositiveRate[i-1]) / 2
	}
	return area
}

// PrecisionRecall returns the precision-recall curve of scores; positive has the same length.
// Equal scores are one point of the curve. It fails with an [*UndefinedError] without positive
// examples, and with a [*NonFiniteError] for a score that is NaN.
func PrecisionRecall(scores []float64, positive []bool) (*PRCurve, error) {
	hits, alarms, thresholds, err := ranked(scores, positive)
	if err != nil {
		return nil, err
	}
	p := hits[len(hits)-1]
	if p == 0 {
		return nil, &UndefinedError{"PR", -1, "there are no positive examples"}
	}
	c := &PRCurve{Thresholds: thresholds, Precision: []float64{1}, Recall: []float64{0}}
	for i := 1; i < len(hits); i++ {
		c.Precision = append(c.Precision, float64(hits[i])/float64(hits[i]+alarms[i]))
		c.Recall = append(c.Recall, float64(hits[i])/float64(p))
	}
	return c, nil
}

// AveragePrecision returns the mean of the precision over the recall, Σ (Rᵢ - Rᵢ₋₁)·Pᵢ, which is
// the area under the curve without interpolation.
func (c *PRCurve) AveragePrecision() float64 {
	sum := 0.0
	for i := 1; i < len(c.Recall); i++ {
		sum += (c.Recall[i] - c.Recall[i-1]) * c.Precision[i]
	}
	return sum
}

// ranked returns the numbers of positive and of negative examples whose score is at least each
// threshold, which are the different scores, falling, after an infinite one.
func ranked(scores []float64, positive []bool) (hits, alarms []int, thresholds []float64, err error) {
	if len(scores) != len(positive) {
		return nil, nil, nil, fmt.Errorf("metrics: %d scores for %d examples: there must be one for each", len(scores), len(positive))
	}
	order := make([]int, len(scores))
	for i, s := range scores {
		if order[i] = i; math.IsNaN(s) {
			return nil, nil, nil, &NonFiniteError{"prediction", i, s}
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	hits, alarms, thresholds = []int{0}, []int{0}, []float64{math.Inf(1)}
	hit, alarm := 0, 0
	for k, i := range order {
		if positive[i] {
			hit++
		} else {
			alarm++
		}
		if k+1 == len(order) || scores[order[k+1]] != scores[i] {
			hits, alarms, thresholds = append(hits, hit), append(alarms, alarm), append(thresholds, scores[i])
		}
	}
	return hits, alarms, thresholds, nil
}
