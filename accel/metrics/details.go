package metrics

import (
	"fmt"
	"slices"
)

// find returns the first state of a type, after reading what is still being computed.
func find[S state](c *Collection, what, add string, has func(S) bool) (found S, err error) {
	if err := c.flush(); err != nil {
		return found, err
	}
	for _, s := range c.states {
		if s, ok := s.(S); ok && has(s) {
			return s, nil
		}
	}
	return found, fmt.Errorf("metrics: the %s was not measured: add metrics.%s", what, add)
}

// ConfusionMatrix returns the number of examples by class and predicted class. The collection
// must have the metric [ConfusionMatrix]. It is nil without examples.
func (c *Collection) ConfusionMatrix() ([][]int, error) {
	n, err := find(c, "confusion matrix", "ConfusionMatrix()", func(n *counts) bool { return n.keepMatrix })
	if err != nil {
		return nil, err
	}
	var m [][]int
	for _, row := range n.Matrix {
		m = append(m, slices.Clone(row))
	}
	return m, nil
}

// ROC returns the ROC curve of a class or label against the others; with one logit for two
// classes, 1 is the only class that has one. Scores are logits, for classes logarithms of
// probabilities. The collection must have the metric [ROCAUC] or [AveragePrecision].
func (c *Collection) ROC(class int) (*ROCCurve, error) {
	scores, positive, err := c.scores("ROC curve", class)
	if err != nil {
		return nil, err
	}
	return ROC(scores, positive)
}

// PrecisionRecall returns the precision-recall curve of a class or label, as [Collection.ROC].
func (c *Collection) PrecisionRecall(class int) (*PRCurve, error) {
	scores, positive, err := c.scores("precision-recall curve", class)
	if err != nil {
		return nil, err
	}
	return PrecisionRecall(scores, positive)
}

// scores returns the scores of a class, and which examples have it.
func (c *Collection) scores(what string, class int) (values []float64, positive []bool, err error) {
	s, err := find(c, what, "ROCAUC() or metrics.AveragePrecision()", func(*scores) bool { return true })
	if err != nil {
		return nil, nil, err
	}
	switch {
	case s.Kind == 0:
		return nil, nil, &UndefinedError{"the " + what, class, "there are no examples"}
	case s.Kind == binary && class != 1:
		return nil, nil, &UndefinedError{"the " + what, class, "with one logit only class 1 has a curve"}
	case s.Kind != binary && (class < 0 || class >= s.Width):
		return nil, nil, &UndefinedError{"the " + what, class, fmt.Sprintf("the classes are 0 to %d", s.Width-1)}
	}
	values, positive = s.of(class)
	return values, positive, nil
}

// Calibration returns the bins of [ECE], which the collection must have.
func (c *Collection) Calibration() (Calibration, error) {
	b, err := find(c, "calibration", "ECE()", func(*bins) bool { return true })
	if err != nil {
		return nil, err
	}
	return b.list(), nil
}
