package calibrate

import (
	"errors"
	"fmt"
	"math"
)

// Decision is a threshold and what it gives on the examples that determined it: an example is predicted as
// positive if its score is above Threshold. That lies in the middle between two scores, or just below the lowest one
// if all examples are predicted.
type Decision struct {
	Threshold                     float64
	TruePositives, FalsePositives int     // positive, and negative examples that are predicted
	FalseNegatives, TrueNegatives int     // positive, and negative examples that are not
	Value                         float64 // the F-score of [BestF], or the cost of [Cheapest]

	value func(Decision) float64 // of the counts, as Value
}

// Apply returns what the same threshold gives on other examples, which say how good it is. Value is then NaN if it is an
// F-score and no example is positive or predicted.
func (d Decision) Apply(scores []float64, positive []bool) (Decision, error) {
	if d.value == nil {
		return Decision{}, errors.New("calibrate: Apply: the decision is not one of BestF or Cheapest")
	}
	if err := check("Apply", scores, positive); err != nil && !errors.Is(err, ErrOneClass) {
		return Decision{}, err
	}
	other := Decision{Threshold: d.Threshold, value: d.value}
	for i, s := range scores {
		switch {
		case s > d.Threshold && positive[i]:
			other.TruePositives++
		case s > d.Threshold:
			other.FalsePositives++
		case positive[i]:
			other.FalseNegatives++
		default:
			other.TrueNegatives++
		}
	}
	other.Value = d.value(other)
	return other, nil
}

// String describes the decision in one line.
func (d Decision) String() string {
	return fmt.Sprintf("threshold %.4g: %.4g with %d true and %d false positives, %d true and %d false negatives",
		d.Threshold, d.Value, d.TruePositives, d.FalsePositives, d.TrueNegatives, d.FalseNegatives)
}

// BestF returns the threshold with the highest F-score, (1+β²)·P·R/(β²·P + R) of precision P and recall R: with
// beta 1 both count the same, with 2 recall counts more. Of equally good thresholds it returns the highest.
func BestF(scores []float64, positive []bool, beta float64) (Decision, error) {
	if !(beta > 0) || math.IsInf(beta, 0) {
		return Decision{}, fmt.Errorf("calibrate: BestF: beta is %v, but it must be positive", beta)
	}
	return best("BestF", scores, positive, 1, func(d Decision) float64 {
		weight := beta * beta
		return (1 + weight) * float64(d.TruePositives) / ((1+weight)*float64(d.TruePositives) + weight*float64(d.FalseNegatives) + float64(d.FalsePositives))
	})
}

// Cheapest returns the threshold with the lowest total cost of false alarms and misses. Of equally cheap
// thresholds it returns the highest. Value is the cost of all examples together.
func Cheapest(scores []float64, positive []bool, falseAlarm, miss float64) (Decision, error) {
	for _, c := range []float64{falseAlarm, miss} {
		if !(c >= 0) || math.IsInf(c, 0) {
			return Decision{}, fmt.Errorf("calibrate: Cheapest: the cost %v must not be negative", c)
		}
	}
	return best("Cheapest", scores, positive, -1, func(d Decision) float64 {
		return falseAlarm*float64(d.FalsePositives) + miss*float64(d.FalseNegatives)
	})
}

// best returns the threshold with the highest value, or with the sign -1 the lowest one.
func best(call string, scores []float64, positive []bool, sign float64, value func(Decision) float64) (Decision, error) {
	if err := check(call, scores, positive); err != nil {
		return Decision{}, err
	}
	all := groups(scores, positive)
	d := Decision{Threshold: all[len(all)-1].score, value: value}
	for _, g := range all {
		d.FalseNegatives, d.TrueNegatives = d.FalseNegatives+g.yes, d.TrueNegatives+g.no
	}
	d.Value = value(d)
	highest := d
	for i := len(all) - 1; i >= 0; i-- {
		g := all[i]
		d.TruePositives, d.FalseNegatives = d.TruePositives+g.yes, d.FalseNegatives-g.yes
		d.FalsePositives, d.TrueNegatives = d.FalsePositives+g.no, d.TrueNegatives-g.no
		if d.Threshold = math.Nextafter(g.score, math.Inf(-1)); i > 0 {
			d.Threshold = min(all[i-1].score/2+g.score/2, d.Threshold) // it is not g.score where that is the next number
		}
		if d.Value = value(d); sign*d.Value > sign*highest.Value {
			highest = d
		}
	}
	return highest, nil
}
