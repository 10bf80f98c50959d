package preprocess

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/frame"
	"github.com/quernlab/quern/accel/tensor"
)

// Transform is what [Fit] learned. It is immutable.
type Transform struct {
	encoders []encoder
	target   *target
}

// Fit learns from training rows how to prepare columns, in this order. Without columns it takes all but the
// target and chooses by their types: numbers and bools are standardized, with missing values replaced by the
// median, text becomes categories, unknown ones included, and times become dates.
func Fit(train *frame.Frame, predict Target, columns ...Columns) (t *Transform, err error) {
	defer catch(&err)
	if train.Len() == 0 {
		return nil, errNoRows
	}
	t = &Transform{}
	if t.target, err = predict.fit(train); err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		columns = automatic(train.Drop(t.target.Columns...))
	}
	seen := map[string]bool{}
	for _, c := range columns {
		encoders, err := c.fit(train)
		if err != nil {
			return nil, err
		}
		for _, e := range encoders {
			if slices.Contains(t.target.Columns, e.column()) {
				return nil, fmt.Errorf("preprocess: column %q is a feature and the target: leave it out of the features", e.column())
			}
			for _, name := range e.features() {
				if seen[name] {
					return nil, fmt.Errorf("preprocess: two features are named %q: prepare each column once", name)
				}
				seen[name] = true
			}
		}
		t.encoders = append(t.encoders, encoders...)
	}
	if len(t.Features()) == 0 {
		return nil, fmt.Errorf("preprocess: the columns have no features")
	}
	return t, nil
}

// Features returns the names of the features in order.
func (t *Transform) Features() []string {
	var names []string
	for _, e := range t.encoders {
		names = append(names, e.features()...)
	}
	return names
}

// Classes returns the names of the classes by class index; nil for regression.
func (t *Transform) Classes() []string { return slices.Clone(t.target.Classes) }

// Categories returns the categories of a column in the order of their numbers, "" for a missing value, and nil
// if the column has none. An nn.Embedding of their numbers needs as many rows as there are, and one more with [CategoryColumns.Other].
func (t *Transform) Categories(column string) []string {
	for _, e := range t.encoders {
		if c, ok := e.(*category); ok && c.Column == column {
			values := slices.Clone(c.Values)
			if c.Missing {
				values = append(values, "")
			}
			return values
		}
	}
	return nil
}

// Dataset prepares rows with their targets. It returns a [*CategoryError] or a [*ValueError] for values that cannot
// be prepared, and the errors of the frame for columns that it lacks.
func (t *Transform) Dataset(f *frame.Frame) (set *data.Dataset, err error) {
	defer catch(&err)
	examples, err := t.examples(f)
	if err != nil {
		return nil, err
	}
	if set, err = t.target.dataset(f, examples); err != nil {
		return nil, err
	}
	return set.WithColumns(t.Features()...)
}

// Tensor prepares rows without targets, such as those to predict: [rows, features] of type float32.
func (t *Transform) Tensor(f *frame.Frame) (x *tensor.Tensor, err error) {
	defer catch(&err)
	examples, err := t.examples(f)
	if err != nil {
		return nil, err
	}
	return tensor.New(slices.Concat(examples...), len(examples), len(t.Features())), nil
}

func (t *Transform) examples(f *frame.Frame) ([][]float32, error) {
	width := len(t.Features())
	values := make([]float32, f.Len()*width)
	rows := make([][]float32, f.Len())
	for i := range rows {
		rows[i] = values[i*width : (i+1)*width : (i+1)*width]
	}
	at := 0
	for _, e := range t.encoders {
		if err := e.encode(f, rows, at); err != nil {
			return nil, err
		}
		at += len(e.features())
	}
	return rows, nil
}

// String describes the features and the target in one line.
func (t *Transform) String() string {
	what := fmt.Sprintf("values of %q", t.target.Columns)
	if t.target.Classes != nil {
		what = fmt.Sprintf("%d classes of %q", len(t.target.Classes), t.target.Columns[0])
	}
	return fmt.Sprintf("%d features of %d columns; predicts %s", len(t.Features()), len(t.encoders), what)
}

// Columns are columns of a data frame that are prepared in the same way: [Numbers], [Categories]
// or [Dates].
type Columns interface {
	// fit learns from training rows.
	fit(train *frame.Frame) ([]encoder, error)
}

// encoder makes features of a column.
type encoder interface {
	// features returns the names of the features.
	features() []string
	// encode writes the features of each row, from the index at on.
	encode(f *frame.Frame, rows [][]float32, at int) error
	// column returns the name of the column.
	column() string
}

// automatic chooses columns by their types: numbers and bools as Numbers, with missing values replaced by
// the median, text as Categories, and times as Dates.
func automatic(train *frame.Frame) []Columns {
	var chosen []Columns
	for _, name := range train.Columns() {
		switch train.Column(name).Type() {
		case frame.Text:
			chosen = append(chosen, Categories(name).Other())
		case frame.Time:
			chosen = append(chosen, Dates(name))
		default:
			chosen = append(chosen, Numbers(name).Impute(Median))
		}
	}
	return chosen
}
