package preprocess

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/frame"
)

// Target is what a model predicts; see [Class] and [Values].
type Target struct {
	columns []string
	class   bool
}

// Class is a column of classes of any type but times. The classes of the training rows are sorted: numbers by
// value, text by its bytes, false before true.
func Class(column string) Target { return Target{columns: []string{column}, class: true} }

// Values are columns of numbers, for regression.
func Values(columns ...string) Target { return Target{columns: columns} }

// target is a fitted target.
type target struct {
	Columns []string
	Classes []string `json:",omitempty"` // nil for regression
}

func (t Target) fit(train *frame.Frame) (*target, error) {
	if len(t.columns) == 0 {
		return nil, errors.New("preprocess: Values without columns: name what the model predicts")
	}
	if !t.class {
		for _, name := range t.columns {
			train.Column(name).Floats() // panics, which Fit reports, if they are no numbers
		}
		return &target{Columns: slices.Clone(t.columns)}, nil
	}
	c := train.Column(t.columns[0])
	classes, missing := categoriesOf(c)
	if missing {
		i := 0
		for !c.Missing(i) {
			i++
		}
		return nil, &ValueError{Column: c.Name(), Row: i, Value: "a missing value", Want: "a class: use DropMissing of the frame"}
	}
	return &target{Columns: slices.Clone(t.columns), Classes: classes}, nil
}

// dataset makes a data set of examples and the targets of their rows.
func (t *target) dataset(f *frame.Frame, examples [][]float32) (*data.Dataset, error) {
	if t.Classes == nil {
		wanted := make([][]float32, f.Len())
		for _, name := range t.Columns {
			for i, v := range f.Column(name).Floats() {
				if math.IsNaN(v) {
					return nil, &ValueError{Column: name, Row: i, Value: "a missing value", Want: "a number: use DropMissing of the frame"}
				}
				if math.IsInf(float64(float32(v)), 0) {
					return nil, &ValueError{Column: name, Row: i, Value: strconv.FormatFloat(v, 'g', -1, 64), Want: "a finite number in the range of float32"}
				}
				wanted[i] = append(wanted[i], float32(v))
			}
		}
		s, err := data.FromTargets(examples, wanted)
		if err != nil {
			return nil, err
		}
		return s.WithTargets(t.Columns...)
	}
	numbers := numbered(t.Classes)
	c := f.Column(t.Columns[0])
	labels := make([]int, f.Len())
	for i := range labels {
		k, ok := numbers[c.Format(i)]
		if !ok || c.Missing(i) {
			return nil, &CategoryError{Column: c.Name(), Row: i, Value: c.Format(i), Known: slices.Clone(t.Classes), Class: true}
		}
		labels[i] = k
	}
	s, err := data.FromSlices(examples, labels)
	if err != nil {
		return nil, err
	}
	return s.WithClasses(t.Classes...)
}
