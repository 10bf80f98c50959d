package metrics

import (
	"fmt"
	"math"
	"strings"
)

// Option changes how a metric of classification is computed.
type Option struct {
	text, code string // for names of metrics, and as Go code
	set        func(*settings) error
	kind       optionKind
}

// optionKind says what an option changes. Each metric takes some kinds.
type optionKind int

const (
	ofAverage optionKind = 1 << iota // Micro, Macro, Weighted, PerClass, OfClass
	ofThreshold
	ofProbabilities
	ofIgnored
	ofBins
)

// optionNames are the options in the order of their kinds, for errors.
var optionNames = []string{"the averages", "Threshold", "Probabilities", "IgnoreIndex", "Bins"}

// accepts returns an error for the first option that would have no effect, since its name would be part
// of a metric that it does not change.
func (k optionKind) accepts(metric string, options []Option) error {
	for _, o := range options {
		if o.set == nil || o.kind&(k|ofAverage) != 0 { // withoutAverage says why a metric has no average
			continue
		}
		var names []string
		for i, name := range optionNames {
			if k&(1<<i) != 0 {
				names = append(names, name)
			}
		}
		return fmt.Errorf("metrics: %s does not take %s: its options are %s", metric, o.code, strings.Join(names, ", "))
	}
	return nil
}

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
	PerClass = averaging(perClass, "per class", "PerClass")
)

func averaging(a average, text, code string) Option {
	return Option{text, code, func(s *settings) error { s.average = a; return nil }, ofAverage}
}

// OfClass measures one class, or one label, against all others.
func OfClass(class int) Option {
	return Option{classText(class), fmt.Sprintf("OfClass(%d)", class), func(s *settings) error {
		if class < 0 {
			return fmt.Errorf("metrics: OfClass(%d): the class is negative", class)
		}
		s.average, s.class = ofClass, class
		return nil
	}, ofAverage}
}

// classText stands for the name of a class.
func classText(class int) string { return fmt.Sprintf("class %d", class) }

// Threshold sets the probability from which on a label, or the positive one of two classes, is
// predicted: a probability that equals the threshold is positive, as in scikit-learn and in the
// curves of this package. The default is 0.5; for two classes with two logits it is the larger
// logit. The positive class is 1, or that of [OfClass]. With more classes Threshold needs OfClass,
// whose class is predicted from the threshold on, and else the largest other one.
func Threshold(probability float64) Option {
	return Option{fmt.Sprintf("threshold %g", probability), fmt.Sprintf("Threshold(%g)", probability), func(s *settings) error {
		if !(probability > 0 && probability < 1) {
			return fmt.Errorf("metrics: Threshold(%g): the probability must be between 0 and 1", probability)
		}
		s.threshold, s.thresholds = probability, true
		return nil
	}, ofThreshold}
}

// Probabilities says that the predictions are probabilities, not logits.
func Probabilities() Option {
	return Option{"probabilities", "Probabilities()", func(s *settings) error { s.probabilities = true; return nil }, ofProbabilities}
}

// IgnoreIndex leaves out examples and tokens whose class index is the given one, such as the
// padding of sequences, and labels with this value.
func IgnoreIndex(class int) Option {
	return Option{fmt.Sprintf("without %d", class), fmt.Sprintf("IgnoreIndex(%d)", class), func(s *settings) error { s.ignored = &class; return nil }, ofIgnored}
}

// newSettings returns the settings of options.
func newSettings(options []Option) (s settings, err error) {
	s.threshold, s.bins = 0.5, defaultBins
	for _, o := range options {
		if o.set == nil {
			continue // the zero Option
		}
		if e := o.set(&s); e != nil && err == nil {
			err = e
		}
		s.texts, s.codes = append(s.texts, o.text), append(s.codes, "metrics."+o.code)
	}
	return s, err
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
