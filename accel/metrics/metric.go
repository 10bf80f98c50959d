package metrics

import (
	"errors"
	"strconv"
	"strings"

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
