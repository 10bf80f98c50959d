package preprocess

import (
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/frame"
)

// CategoryColumns are columns of categories; see [Categories].
type CategoryColumns struct {
	names        []string
	index, other bool
}

// Categories makes a feature "column=value" for each value that the training rows have in a column of any type but
// times: 1 where the row has the value, and otherwise 0. A missing value is a category of its own. The
// categories are sorted: numbers by value, text by its bytes, missing last.
//
// A value that no training row has is a [*CategoryError]; see [CategoryColumns.Other].
func Categories(names ...string) CategoryColumns { return CategoryColumns{names: names} }

// Index makes one feature instead, the number of the category from 0, for nn.Embedding.
func (c CategoryColumns) Index() CategoryColumns {
	c.index = true
	return c
}

// Other accepts values that no training row has: all their features are 0, or with Index they have one more
// number after the others.
func (c CategoryColumns) Other() CategoryColumns {
	c.other = true
	return c
}

func (c CategoryColumns) fit(train *frame.Frame) ([]encoder, error) {
	var encoders []encoder
	for _, name := range c.names {
		values, missing := categoriesOf(train.Column(name))
		encoders = append(encoders, &category{Column: name, Type: train.Column(name).Type().String(), Values: values, Missing: missing, Index: c.index, Other: c.other})
	}
	return encoders, nil
}

// categoriesOf returns the sorted values of a column as text, and whether some are missing.
func categoriesOf(c frame.Column) (values []string, missing bool) {
	sorted := frame.New(c).GroupBy(c.Name()).Aggregate().Column(c.Name())
	for i := range sorted.Len() {
		if sorted.Missing(i) {
			missing = true
		} else {
			values = append(values, strings.Clone(sorted.Format(i))) // not with the whole file
		}
	}
	return values, missing
}

// numbered returns the numbers of categories or classes, from 0.
func numbered(values []string) map[string]int {
	numbers := make(map[string]int, len(values))
	for k, v := range values {
		numbers[v] = k
	}
	return numbers
}

// category is a fitted column of categories.
type category struct {
	Column  string
	Type    string // of the training rows: text, int, float, bool or time
	Values  []string
	Missing bool `json:",omitempty"` // whether a missing value is a category, the last one
	Index   bool `json:",omitempty"`
	Other   bool `json:",omitempty"`
}

func (c *category) column() string { return c.Column }

func (c *category) features() []string {
	if c.Index {
		return []string{c.Column}
	}
	var names []string
	for _, v := range c.Values {
		names = append(names, c.Column+"="+v)
	}
	if c.Missing {
		names = append(names, c.Column+" missing")
	}
	return names
}

// count returns the number of categories, with the missing value.
func (c *category) count() int {
	if c.Missing {
		return len(c.Values) + 1
	}
	return len(c.Values)
}

func (c *category) encode(f *frame.Frame, rows [][]float32, at int) error {
	column := f.Column(c.Column)
	numbers := numbered(c.Values)
	for i := range f.Len() {
		text := column.Format(i)
		k, ok := numbers[text]
		if column.Missing(i) {
			k, ok = len(c.Values), c.Missing
		}
		if !ok && !c.Other {
			return &CategoryError{Column: c.Column, Row: i, Value: text, Known: slices.Clone(c.Values)}
		}
		switch {
		case c.Index && ok:
			rows[i][at] = float32(k)
		case c.Index:
			rows[i][at] = float32(c.count())
		case ok:
			rows[i][at+k] = 1
		}
	}
	return nil
}
