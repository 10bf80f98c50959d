package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

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
