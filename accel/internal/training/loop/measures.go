package loop

import (
	"errors"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/tensor"
)

// measures are what an evaluation measures besides the loss.
type measures struct {
	basic *metrics.Collection // accuracy and confusion matrix; nil for regression
	given *metrics.Collection // of option Metrics; nil for none

	Classes   bool // predictions are classes, so that basic has values
	NotFinite bool // predictions or targets are NaN or infinite, so that there are no values
	Basic     []byte
	Given     []byte // what the collections have measured, for other ranks
}

// newMeasures returns measures without examples. sequences have no confusion matrix, since their
// classes are the tokens of a vocabulary.
func newMeasures(set *data.Dataset, given []metrics.Metric) (m *measures, err error) {
	m = &measures{}
	if set.Targets() == 0 {
		basic := []metrics.Metric{metrics.Accuracy(), metrics.ConfusionMatrix()}
		if set.SequenceLength() > 0 {
			basic = basic[:1]
		}
		if m.basic, err = metrics.NewCollection(basic...); err != nil {
			return nil, err
		}
	}
	if len(given) > 0 {
		if m.given, err = metrics.NewCollection(given...); err != nil {
			return nil, err
		}
		m.given.NameClasses(classNames(set)...)
	}
	return m, nil
}

// update adds a batch. scores says that predictions are scores of the classes.
func (m *measures) update(prediction *tensor.Tensor, b data.Batch, scores bool) error {
	target := b.Y
	if b.Ignores {
		prediction, target = withoutIgnored(prediction, target)
	}
	if target == nil {
		return nil
	}
	rank := prediction.NDim()
	if m.basic != nil && scores && (rank == 2 || rank == 3) && target.NDim() == rank-1 {
		m.Classes = true
		if err := m.finite(m.basic.Update(prediction, target)); err != nil {
			return err
		}
	}
	if m.given != nil {
		return m.finite(m.given.Update(prediction, target))
	}
	return nil
}

// withoutIgnored returns the rows of predictions [N, T, C] and of classes [N, T] whose class is not
// [data.Ignored]; nil for none. It returns other predictions unchanged.
func withoutIgnored(prediction, target *tensor.Tensor) (p, t *tensor.Tensor) {
	if prediction.NDim() != 3 || target.NDim() != 2 {
		return prediction, target
	}
	var rows, classes []int
	for i, c := range target.Ints() {
		if c != data.Ignored {
			rows, classes = append(rows, i), append(classes, c)
		}
	}
	if len(rows) == 0 {
		return prediction, nil
	}
	flat := prediction.Reshape(-1, prediction.Size(2))
	return flat.IndexSelect(tensor.FromInts(rows, len(rows))), tensor.FromInts(classes, len(rows))
}

// finite records an error about a value that is not finite, and returns other errors.
func (m *measures) finite(err error) error {
	if _, ok := errors.AsType[*metrics.NonFiniteError](err); ok {
		m.NotFinite = true
		return nil
	}
	return err
}

// encode reads the results of all batches and encodes them for other ranks.
func (m *measures) encode() (err error) {
	for _, c := range []struct {
		of   *metrics.Collection
		into *[]byte
	}{{m.basic, &m.Basic}, {m.given, &m.Given}} {
		if c.of == nil {
			continue
		}
		if *c.into, err = c.of.MarshalBinary(); m.finite(err) != nil {
			return err
		}
	}
	return nil
}

// again returns measures of the same metrics without examples.
func (m *measures) again() *measures {
	empty := &measures{}
	if m.basic != nil {
		empty.basic = m.basic.Empty()
	}
	if m.given != nil {
		empty.given = m.given.Empty()
	}
	return empty
}

// merge adds what another rank has encoded.
func (m *measures) merge(other *measures) error {
	m.Classes = m.Classes || other.Classes
	if m.NotFinite = m.NotFinite || other.NotFinite; m.NotFinite {
		return nil
	}
	if m.basic != nil {
		if err := m.basic.Merge(other.Basic); err != nil {
			return err
		}
	}
	if m.given != nil {
		return m.given.Merge(other.Given)
	}
	return nil
}

// addTo computes the values.
func (m *measures) addTo(r *history.Measurements) error {
	r.Accuracy = math.NaN()
	if m.Classes {
		values, err := m.basic.Values()
		switch err := m.finite(err); {
		case err != nil:
			return err
		case !m.NotFinite:
			r.Accuracy = values[0].Value
			r.Counts, _ = m.basic.ConfusionMatrix() // sequences have none
			r.Counts = square(r.Counts, len(r.Classes))
		}
	}
	if m.given == nil {
		return nil
	}
	values, err := m.given.Values()
	if err := m.finite(err); err != nil {
		return err
	}
	if m.NotFinite {
		for _, metric := range m.given.Metrics() {
			r.Metrics = append(r.Metrics, history.MetricValue{Name: metric.Name(), Value: math.NaN(), Share: metric.IsShare()})
		}
		return nil
	}
	r.Collection = m.given
	for _, v := range values {
		r.Metrics = append(r.Metrics, history.MetricValue{Name: v.Name, Value: v.Value, Share: v.Metric.IsShare()})
	}
	return nil
}

// square returns the matrix with rows and columns of zeros for classes without predictions.
func square(counts [][]int, size int) [][]int {
	if counts == nil || len(counts) >= size {
		return counts
	}
	for i, row := range counts {
		counts[i] = slices.Concat(row, make([]int, size-len(row)))
	}
	for len(counts) < size {
		counts = append(counts, make([]int, size))
	}
	return counts
}

// classNames returns the names of the classes or of the targets of a data set, which has one of both.
func classNames(set *data.Dataset) []string { return append(set.Classes(), set.Schema().Targets...) }
