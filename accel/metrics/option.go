package metrics

import (
	"fmt"
	"math"
	"strings"

	"github.com/quernlab/quern/accel/internal/training/option"
)

// Option changes how a metric of classification is computed. Each metric lists those that it takes; with
// another one it cannot be measured, see [Metric.Valid].
type Option struct{ setting }

type setting = option.Of[settings]

// labeled returns what an option sets: also its part of the names of metrics, and its Go code.
func labeled(set func(*settings), label, code string) func(*settings) {
	return func(s *settings) {
		set(s)
		s.texts, s.codes = append(s.texts, label), append(s.codes, "metrics."+code)
	}
}

// with returns an option, and label its part of the names of metrics.
func with(set func(*settings), label, name string, arguments ...any) option.Of[settings] {
	code := option.New[settings](nil, name, arguments...).String()
	return option.New(labeled(set, label, code), name, arguments...)
}

// averages are the names of the options that select an average or a class.
var averages = []string{"Micro", "Macro", "Weighted", "PerClass", "OfClass"}

// settings are what options set.
type settings struct {
	average       average
	class         int     // for ofClass
	threshold     float64 // probability from which on a label is positive
	thresholds    bool    // Threshold was given
	probabilities bool    // the predictions are probabilities
	dropsIgnored  bool    // the mean over classes is one over the classes that are not ignored
	ignored       *int    // target that is left out; nil for none
	bins          int     // of ECE

	texts, codes []string
}

type average int

// natural is the average without an option: the positive class for two classes with one logit,
// else macro.
const (
	natural average = iota
	micro
	macro
	weighted
	perClass
	ofClass
)

// How a metric of several classes or labels becomes one value. Without one of these options, two
// classes with one logit are measured by the positive class, and several classes by Macro.
var (
	// Micro counts over all classes together.
	Micro = averaging(micro, "micro", "Micro")
	// Macro is the mean over the classes. Precision, recall and F1 leave out classes that
	// occur neither in the targets nor in the predictions.
	Macro = averaging(macro, "macro", "Macro")
	// Weighted is the mean over the classes, weighted by their numbers of examples.
	Weighted = averaging(weighted, "weighted", "Weighted")
	// PerClass gives a value for each class.
	PerClass = averaging(perClass, perClassText, "PerClass")
)

// perClassText is the part of the names of metrics with a value for each class.
const perClassText = "per class"

func averaging(a average, text, code string) Option {
	return Option{option.Variable(labeled(func(s *settings) { s.average = a }, text, code), code)}
}

// OfClass measures one class, or one label, against all others.
func OfClass(class int) Option {
	return Option{with(func(s *settings) { s.average, s.class = ofClass, class }, classText(class), "OfClass", class).
		Require(class >= 0, "the class is negative")}
}

// classText stands for the name of a class.
func classText(class int) string { return fmt.Sprintf("class %d", class) }

// Threshold sets the probability from which on a label, or the positive one of two classes, is
// predicted: a probability that equals the threshold is positive, as in scikit-learn and in the
// curves of this package. The default is 0.5; for two classes with two logits it is the larger
// logit. The positive class is 1, or that of [OfClass]. With more classes Threshold needs OfClass,
// whose class is predicted from the threshold on, and else the largest other one.
func Threshold(probability float64) Option {
	return Option{with(func(s *settings) { s.threshold, s.thresholds = probability, true }, fmt.Sprintf("threshold %g", probability), "Threshold", probability).
		Require(probability > 0 && probability < 1, "the probability must be between 0 and 1")}
}

// Probabilities says that the predictions are probabilities, not logits.
func Probabilities() Option {
	return Option{with(func(s *settings) { s.probabilities = true }, "probabilities", "Probabilities")}
}

// IgnoreIndex leaves out examples and tokens whose class index is the given one, such as the
// padding of sequences, and labels with this value.
func IgnoreIndex(class int) Option {
	return Option{with(func(s *settings) { s.ignored = &class }, fmt.Sprintf("without %d", class), "IgnoreIndex", class)}
}

// newSettings returns the settings of the options that are given to a metric.
func newSettings(metric string, given []Option, takes []string) (s settings, err error) {
	s.threshold, s.bins = 0.5, defaultBins
	return s, option.Apply("metrics."+metric, &s, given, takes...)
}

// input is what the settings say of predictions and targets. Metrics that agree on it can share
// a state.
func (s settings) input() string {
	ignored := "none"
	if s.ignored != nil {
		ignored = fmt.Sprint(*s.ignored)
	}
	class := -1
	if s.thresholds && s.average == ofClass {
		class = s.class
	}
	return fmt.Sprint(s.threshold, s.thresholds, class, s.probabilities, ignored)
}

// positive reports whether a logit, or probability, of a label reaches the threshold.
func (s settings) positive(v float64) bool {
	if !s.probabilities {
		v = 1 / (1 + math.Exp(-v))
	}
	return v >= s.threshold
}

// leavesOut reports whether examples of a class are left out.
func (s settings) leavesOut(class int) bool { return s.ignored != nil && *s.ignored == class }

// name returns the name of a metric with its options.
func (s settings) name(base string) string {
	if len(s.texts) == 0 {
		return base
	}
	return base + " (" + strings.Join(s.texts, ", ") + ")"
}
