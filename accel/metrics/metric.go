package metrics

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/tensor"
)

// Metric defines a quantity that is measured over the examples of a data set. The functions of
// this package return metrics; [Mean] and [Of] define your own. The zero Metric is not valid.
type Metric struct {
	base   string   // name without options
	name   string   // with options
	code   string   // as Go code
	takes  []string // names of its options
	lower  bool     // smaller values are better
	share  bool     // values are from 0 to 1
	key    string   // metrics with the same key share a state; "" for a state of its own
	create func() state
	// prepare makes a state keep what this metric needs beyond what others need; may be nil.
	prepare func(state)
	values  func(state) ([]float64, error) // one value, or one for each class
	each    bool                           // there is a value for each class
	one     int                            // for ofClass 1 + the class, else 0
	err     error                          // of the options
}

// Name returns the name of the metric with its options, such as "F1 (macro)".
func (m Metric) Name() string { return m.name }

// WithClasses returns the metric for classes with these names, by class index: [OfClass] then has the
// name of its class in the name of the metric, such as "F1 (cat)" instead of "F1 (class 0)". It keeps
// the latter for a class whose name is its index.
func (m Metric) WithClasses(names ...string) Metric {
	if class := m.one - 1; m.one > 0 && class < len(names) && names[class] != strconv.Itoa(class) {
		m.name = strings.Replace(m.name, classText(class), names[class], 1)
	}
	return m
}

// String returns the metric as Go code, such as "metrics.F1(metrics.Macro)".
func (m Metric) String() string { return m.code }

// LowerIsBetter reports whether smaller values are better, as for errors.
func (m Metric) LowerIsBetter() bool { return m.lower }

// IsShare reports whether all values are from 0 to 1, so that they can share an axis and be
// written in percent.
func (m Metric) IsShare() bool { return m.share }

// Valid returns why the metric cannot be measured, nil if it can: an argument outside of its
// range, or the zero Metric.
func (m Metric) Valid() error {
	if m.err == nil && m.create == nil {
		return errors.New("metrics: the zero Metric: create metrics with functions such as metrics.F1")
	}
	return m.err
}

// state is what has been measured so far. Ranks that measure together exchange their states,
// encoded with gob, so everything to be merged is in exported fields.
type state interface {
	// update adds a batch. It may keep tensors and read them later, so that a GPU does not wait.
	update(prediction, target *tensor.Tensor) error
	// flush reads the tensors that update has kept.
	flush() error
	// merge adds another state of the same type.
	merge(other state) error
}

// define completes a metric of classification, whose base name and code m has: create returns its
// empty state and values what is computed from it.
func define[S state](m Metric, arguments []string, options []Option, create func(settings) S, values func(S, settings) ([]float64, error)) Metric {
	s, err := newSettings(m.code, options, m.takes)
	if m.err == nil {
		m.err = err
	}
	m.name = s.name(m.base)
	m.code = "metrics." + m.code + "(" + strings.Join(append(arguments, s.codes...), ", ") + ")"
	m.key += " " + s.input()
	if s.average == ofClass {
		m.one = s.class + 1
	}
	m.each = s.average == perClass
	m.create = func() state { return create(s) }
	m.values = func(st state) ([]float64, error) { return values(st.(S), s) }
	return m
}

// pending are the results of batches that have not been read yet.
type pending struct{ reads []func() error }

// maxPending is the number of batches whose results may wait to be read. It bounds their memory.
const maxPending = 4

// later reads a result after the next batches.
func (p *pending) later(read func() error) error {
	if p.reads = append(p.reads, read); len(p.reads) <= maxPending {
		return nil
	}
	oldest := p.reads[0]
	p.reads = p.reads[1:]
	return oldest()
}

func (p *pending) flush() error {
	reads := p.reads
	p.reads = nil
	for _, read := range reads {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

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

// UndefinedError reports that a metric has no value for the examples that were measured.
type UndefinedError struct {
	Metric string // its name
	Class  int    // the class or label without a value; -1 if it is not about one class
	Reason string // such as "there are no positive examples"
}

// Error names the metric and what is missing.
func (e *UndefinedError) Error() string {
	return fmt.Sprintf("metrics: %s is undefined: %s", e.Metric, e.Reason)
}

// NonFiniteError reports a prediction or target that has no meaning as a number: NaN or, for
// regression, also infinite.
type NonFiniteError struct {
	What    string  // "prediction", "target" or what is computed from them
	Example int     // from 0, in the order of the calls of Update; a token of a sequence is an example
	Value   float64 // NaN or infinite
}

// Error names the example.
func (e *NonFiniteError) Error() string {
	return fmt.Sprintf("metrics: the %s of example %d is %v", e.What, e.Example, e.Value)
}

// TargetError reports a target that is not a class of the predictions.
type TargetError struct {
	Example int     // from 0, in the order of the calls of Update; a token of a sequence is an example
	Value   float64 // of the target
	Want    string  // what is allowed
}

// Error names the example, its target, and what is allowed.
func (e *TargetError) Error() string {
	return fmt.Sprintf("metrics: the target of example %d is %v, but it must be %s", e.Example, e.Value, e.Want)
}
