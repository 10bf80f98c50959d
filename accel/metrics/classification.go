package metrics

import "errors"

// Accuracy returns the share of correct predictions, from 0 to 1: of examples, of tokens for
// sequences, and of labels for several labels. The options are [Threshold], [Probabilities] and
// [IgnoreIndex].
func Accuracy(options ...Option) Metric {
	m := define(Metric{base: "accuracy", code: "Accuracy", takes: ofThreshold | ofProbabilities | ofIgnored, share: true, key: "counts"}, nil, options, newCounts,
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
	return m.withoutAverage(options, "Accuracy has no average: Recall(Macro) is the mean accuracy of the classes")
}

// Precision returns the share of the predictions of a class that are correct, TP/(TP+FP), and 0
// without predictions of the class. The options are [Micro], [Macro], [Weighted], [PerClass],
// [OfClass], [Threshold], [Probabilities] and [IgnoreIndex].
func Precision(options ...Option) Metric {
	return counted("precision", "Precision", options, func(right, predicted, _ int) float64 {
		return share(float64(right), float64(predicted))
	})
}

// Recall returns the share of the examples of a class that are predicted, TP/(TP+FN), and 0
// without examples of the class. Its options are those of [Precision].
func Recall(options ...Option) Metric {
	return counted("recall", "Recall", options, func(right, _, actual int) float64 {
		return share(float64(right), float64(actual))
	})
}

// F1 returns the harmonic mean of precision and recall, 2·TP/(2·TP+FP+FN), and 0 for a class
// that occurs neither in the targets nor in the predictions. Its options are those of
// [Precision].
func F1(options ...Option) Metric {
	return counted("F1", "F1", options, func(right, predicted, actual int) float64 {
		return share(2*float64(right), float64(predicted+actual))
	})
}

// counted returns a metric of the numbers of correct predictions, predictions and examples.
func counted(name, code string, options []Option, of func(right, predicted, actual int) float64) Metric {
	return define(Metric{base: name, code: code, takes: ofAverage | ofThreshold | ofProbabilities | ofIgnored, share: true, key: "counts"}, nil, options, newCounts,
		func(c *counts, s settings) ([]float64, error) { return c.averaged(s, of) })
}

// ConfusionMatrix counts the examples by class and predicted class; see
// [Collection.ConfusionMatrix]. It has no value of its own. The options are [Threshold],
// [Probabilities] and [IgnoreIndex].
func ConfusionMatrix(options ...Option) Metric {
	m := define(Metric{base: "confusion matrix", code: "ConfusionMatrix", takes: ofThreshold | ofProbabilities | ofIgnored, key: "counts"}, nil, options, newCounts,
		func(*counts, settings) ([]float64, error) { return nil, nil })
	m.prepare = func(st state) { st.(*counts).keepMatrix = true }
	return m.withoutAverage(options, "a confusion matrix has no average")
}

// withoutAverage rejects the options that select an average or a class.
func (m Metric) withoutAverage(options []Option, why string) Metric {
	if s, err := newSettings(options); err == nil && s.average != natural && m.err == nil {
		m.err = errors.New("metrics: " + m.code + ": " + why)
	}
	return m
}
