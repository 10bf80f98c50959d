package metrics

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
)

// Collection measures metrics over batches. It is not safe for concurrent use.
type Collection struct {
	metrics []Metric
	states  []state
	at      []int    // the state of each metric
	classes []string // names for PerClass
}

// Value is a measured value.
type Value struct {
	Name   string  // of the metric; for PerClass with the class
	Metric Metric  // that was measured
	Class  int     // for PerClass, else -1
	Value  float64 // NaN if the metric is undefined for the examples
}

// NewCollection returns a collection that has measured nothing yet. It fails for invalid metrics
// and for two metrics of the same name.
func NewCollection(metrics ...Metric) (*Collection, error) {
	c := &Collection{metrics: slices.Clone(metrics)}
	byKey := map[string]int{}
	for i, m := range metrics {
		if err := m.Valid(); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(metrics[:i], func(o Metric) bool { return o.name == m.name }) {
			return nil, fmt.Errorf("metrics: there are two metrics named %s: give each a name of its own", m.name)
		}
		at, ok := byKey[m.key]
		if !ok || m.key == "" {
			at = len(c.states)
			c.states = append(c.states, m.create())
			byKey[m.key] = at
		}
		c.at = append(c.at, at)
		if m.prepare != nil {
			m.prepare(c.states[at])
		}
	}
	return c, nil
}

// Empty returns a collection of the same metrics, with the same names of classes, that has measured
// nothing yet.
func (c *Collection) Empty() *Collection {
	e := &Collection{metrics: c.metrics, states: make([]state, len(c.states)), at: c.at, classes: c.classes}
	for i, m := range c.metrics {
		s := &e.states[c.at[i]]
		if *s == nil {
			*s = m.create()
		}
		if m.prepare != nil {
			m.prepare(*s)
		}
	}
	return e
}

// Metrics returns the metrics of the collection.
func (c *Collection) Metrics() []Metric { return slices.Clone(c.metrics) }

// NameClasses sets the names of the classes, by class index, for the names of values of [PerClass] and
// [OfClass].
func (c *Collection) NameClasses(names ...string) {
	c.classes = slices.Clone(names)
	for i, m := range c.metrics {
		c.metrics[i] = m.WithClasses(names...)
	}
}

// Update adds a batch. It may read the predictions only in a later call, so errors may be about
// an earlier batch. Errors are [*NonFiniteError], [*TargetError] and the errors of package
// tensor, such as [*tensor.ShapeError].
func (c *Collection) Update(prediction, target *tensor.Tensor) (err error) {
	defer nn.Catch(&err)
	tensor.NoGrad(func() {
		for _, s := range c.states {
			if err = s.update(prediction, target); err != nil {
				return
			}
		}
		tensor.Flush()
	})
	return err
}

// Values returns the values of all metrics for the batches so far, in the order of the metrics,
// with one for each class for [PerClass]. A metric without a value has NaN, and the error joins
// an [*UndefinedError] for each of them. Other errors are those of Update; then there are no
// values.
func (c *Collection) Values() (all []Value, err error) {
	defer nn.Catch(&err) // of a user-defined metric
	if err := c.flush(); err != nil {
		return nil, err
	}
	var undefined error
	for i, m := range c.metrics {
		values, err := m.values(c.states[c.at[i]])
		var none *UndefinedError
		switch {
		case errors.As(err, &none):
			none.Metric = m.name // with its options
			undefined = errors.Join(undefined, none)
			values = []float64{math.NaN()}
		case err != nil:
			return nil, err
		}
		for k, v := range values {
			value := Value{m.name, m, -1, v}
			if m.each && none == nil {
				value.Name, value.Class = strings.Replace(m.name, perClassText, c.className(k), 1), k
			}
			all = append(all, value)
		}
	}
	return all, undefined
}

func (c *Collection) className(k int) string {
	if k < len(c.classes) {
		return c.classes[k]
	}
	return classText(k)
}

// flush reads what is still being computed.
func (c *Collection) flush() (err error) {
	defer nn.Catch(&err)
	for _, s := range c.states {
		if err := s.flush(); err != nil {
			return err
		}
	}
	return nil
}

// MarshalBinary returns what has been measured, for Merge in another process of the same program.
func (c *Collection) MarshalBinary() ([]byte, error) {
	if err := c.flush(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := gob.NewEncoder(&b)
	for _, s := range c.states {
		if err := e.Encode(s); err != nil {
			return nil, fmt.Errorf("metrics: encode what was measured: %w", err)
		}
	}
	return b.Bytes(), nil
}

// Merge adds what another collection with the same metrics has measured, as MarshalBinary returns
// it.
func (c *Collection) Merge(measured []byte) error {
	if err := c.flush(); err != nil {
		return err
	}
	other := c.Empty()
	d := gob.NewDecoder(bytes.NewReader(measured))
	for i, s := range other.states {
		if err := d.Decode(s); err != nil {
			return fmt.Errorf("metrics: decode what was measured: %w", err)
		}
		if err := c.states[i].merge(s); err != nil {
			return err
		}
	}
	return nil
}

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

// Figure draws the curve. plots.ROC draws several in one figure.
func (c *ROCCurve) Figure() *plots.Figure {
	return plots.ROC("ROC", plots.Series{X: c.FalsePositiveRate, Y: c.TruePositiveRate})
}

// Report returns the figure.
func (c *ROCCurve) Report() *display.Report { return new(display.Report).Figure(c.Figure()) }

// Figure draws the curve. plots.PrecisionRecall draws several in one figure.
func (c *PRCurve) Figure() *plots.Figure {
	return plots.PrecisionRecall("Precision and recall", plots.Series{X: c.Recall, Y: c.Precision})
}

// Report returns the figure.
func (c *PRCurve) Report() *display.Report { return new(display.Report).Figure(c.Figure()) }

// Calibration is the bins of a model by confidence.
type Calibration []CalibrationBin

// Figure draws the share of right examples over the confidence. plots.Calibration draws several
// models in one figure.
func (c Calibration) Figure() *plots.Figure {
	var s plots.Series
	for _, b := range c {
		s.X, s.Y = append(s.X, b.Confidence), append(s.Y, b.Share)
	}
	return plots.Calibration("Calibration", s)
}

// Report returns the figure.
func (c Calibration) Report() *display.Report { return new(display.Report).Figure(c.Figure()) }
