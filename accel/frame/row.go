package frame

import (
	"iter"
	"time"
)

// Row is a row of a frame. Its methods take the name of a column.
type Row struct {
	frame *Frame
	index int
}

// Rows iterates over the rows.
func (f *Frame) Rows() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for i := range f.Len() {
			if !yield(Row{f, i}) {
				return
			}
		}
	}
}

// Index returns the index of the row, from 0.
func (r Row) Index() int { return r.index }

// Missing reports whether the row has no value in a column.
func (r Row) Missing(column string) bool { return r.frame.Column(column).cells.missing(r.index) }

// Float returns the number in a column of floats, ints or bools, where true is 1 and a missing
// value is NaN. It panics with a [*TypeError] for other types.
func (r Row) Float(column string) float64 {
	c := r.frame.Column(column)
	if l, ok := c.cells.(*list[float64]); ok {
		return l.values[r.index]
	}
	c.cells = c.cells.slice(r.index, r.index+1)
	return c.Floats()[0]
}

// Int returns the value in a column of ints. It panics with a [*TypeError] for other types, and
// with a [*MissingError] if there is no value.
func (r Row) Int(column string) int { return value[int](r, column, "a column of ints") }

// Bool returns the value in a column of bools. It panics like Int.
func (r Row) Bool(column string) bool { return value[bool](r, column, "a column of bools") }

// Time returns the value in a column of times. It panics like Int.
func (r Row) Time(column string) time.Time { return value[time.Time](r, column, "a column of times") }

// Text returns the value of any column as text; see [Column.Format]. A missing value is "".
func (r Row) Text(column string) string { return r.frame.Column(column).Format(r.index) }

func value[T comparable](r Row, column, want string) T {
	c := r.frame.Column(column)
	l, ok := c.cells.(*list[T])
	if !ok {
		panic(c.typeError(want))
	}
	if l.missing(r.index) {
		panic(&MissingError{Column: column, Row: r.index})
	}
	return l.values[r.index]
}

// Filter returns the rows for which keep returns true, in order.
func (f *Frame) Filter(keep func(Row) bool) *Frame {
	var rows []int
	for r := range f.Rows() {
		if keep(r) {
			rows = append(rows, r.index)
		}
	}
	return f.take(rows)
}

// WithFloat returns the frame with a column whose values are computed for each row. NaN is a
// missing value. As in [Frame.With], it replaces a column of the same name.
func (f *Frame) WithFloat(name string, value func(Row) float64) *Frame {
	return f.With(Column{name: name, cells: computed(f, value)})
}

// WithInt is [Frame.WithFloat] for whole numbers.
func (f *Frame) WithInt(name string, value func(Row) int) *Frame {
	return f.With(Column{name: name, cells: computed(f, value)})
}

// WithBool is [Frame.WithFloat] for truth values.
func (f *Frame) WithBool(name string, value func(Row) bool) *Frame {
	return f.With(Column{name: name, cells: computed(f, value)})
}

// WithText is [Frame.WithFloat] for text.
func (f *Frame) WithText(name string, value func(Row) string) *Frame {
	return f.With(Column{name: name, cells: computed(f, value)})
}

// WithTime is [Frame.WithFloat] for times, of which the zero time is a missing value.
func (f *Frame) WithTime(name string, value func(Row) time.Time) *Frame {
	return f.With(Times(name, computed(f, value).values...))
}

func computed[T comparable](f *Frame, value func(Row) T) *list[T] {
	l := &list[T]{values: make([]T, f.Len())}
	for r := range f.Rows() {
		l.values[r.index] = value(r)
	}
	return l
}
