package frame

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Frame is a table of named columns of equal length. It is immutable. The zero value contains no
// columns and no rows.
type Frame struct {
	columns []Column
	rows    int
	places  map[string]int // of columns by name
}

// New makes a frame. It panics with a [*LengthError] if the columns differ in length, and with a
// [*ColumnError] if two have the same name.
func New(columns ...Column) *Frame {
	rows := 0
	if len(columns) > 0 {
		rows = columns[0].Len()
	}
	return build(slices.Clone(columns), rows)
}

// build makes a frame of columns that the caller gives away.
func build(columns []Column, rows int) *Frame {
	f := &Frame{columns: columns, rows: rows, places: make(map[string]int, len(columns))}
	for i, c := range columns {
		if c.Len() != rows {
			panic(&LengthError{Column: c.name, Got: c.Len(), Want: rows})
		}
		if _, ok := f.places[c.name]; ok {
			panic(&ColumnError{Name: c.name, Columns: f.Columns(), Duplicate: true})
		}
		f.places[c.name] = i
	}
	return f
}

// Len returns the number of rows.
func (f *Frame) Len() int {
	if f == nil {
		panic(errNil)
	}
	return f.rows
}

// all returns the columns.
func (f *Frame) all() []Column {
	if f == nil {
		panic(errNil)
	}
	return f.columns
}

// Columns returns the names of the columns in order.
func (f *Frame) Columns() []string {
	names := make([]string, len(f.all()))
	for i, c := range f.all() {
		names[i] = c.name
	}
	return names
}

// Has reports whether the frame contains a column of that name.
func (f *Frame) Has(name string) bool {
	_, ok := f.find(name)
	return ok
}

// Column returns the column of that name.
func (f *Frame) Column(name string) Column { return f.all()[f.place(name)] }

// find returns the place of the column of that name.
func (f *Frame) find(name string) (place int, ok bool) {
	if f == nil {
		panic(errNil)
	}
	place, ok = f.places[name]
	return place, ok
}

func (f *Frame) place(name string) int {
	i, ok := f.find(name)
	if !ok {
		panic(&ColumnError{Name: name, Columns: f.Columns()})
	}
	return i
}

// Select returns the frame with only these columns, in this order.
func (f *Frame) Select(names ...string) *Frame {
	columns := make([]Column, len(names))
	for i, name := range names {
		columns[i] = f.Column(name)
	}
	return build(columns, f.Len())
}

// Drop returns the frame without these columns.
func (f *Frame) Drop(names ...string) *Frame {
	drop := make([]bool, len(f.all()))
	for _, name := range names {
		drop[f.place(name)] = true
	}
	var columns []Column
	for i, c := range f.all() {
		if !drop[i] {
			columns = append(columns, c)
		}
	}
	return build(columns, f.Len())
}

// Rename returns the frame with another name for a column.
func (f *Frame) Rename(old, name string) *Frame {
	columns := slices.Clone(f.all())
	columns[f.place(old)].name = name
	return build(columns, f.Len())
}

// With returns the frame with additional columns at the end. A column with the name of another
// replaces it at its place.
func (f *Frame) With(columns ...Column) *Frame {
	all := slices.Clone(f.all())
	for _, c := range columns {
		if i, ok := f.find(c.name); ok {
			all[i] = c
		} else {
			all = append(all, c)
		}
	}
	if len(f.all()) == 0 && len(all) > 0 {
		return build(all, all[0].Len())
	}
	return build(all, f.Len())
}

// Take returns the rows with these indices, from 0, in this order; an index may occur several
// times. Like indexing a slice it panics if one is not in [0, Len).
func (f *Frame) Take(rows ...int) *Frame {
	for _, i := range rows {
		if i < 0 || i >= f.Len() {
			panic(fmt.Errorf("frame: row %d of a frame with %d rows", i, f.Len()))
		}
	}
	return f.take(rows)
}

// take is Take where -1 stands for a row of missing values.
func (f *Frame) take(rows []int) *Frame {
	return f.each(len(rows), func(c cells) cells { return c.take(rows) })
}

// each returns the frame with the cells of each column replaced.
func (f *Frame) each(rows int, change func(cells) cells) *Frame {
	columns := slices.Clone(f.all())
	for i, c := range columns {
		columns[i].cells = change(c.cells)
	}
	return build(columns, rows)
}

// Slice returns the rows from the index from up to, but not including, to. Like slicing a slice
// it panics if these are out of range.
func (f *Frame) Slice(from, to int) *Frame {
	if from < 0 || to < from || to > f.Len() {
		panic(fmt.Errorf("frame: rows %d to %d of a frame with %d rows", from, to, f.Len()))
	}
	return f.each(to-from, func(c cells) cells { return c.slice(from, to) })
}

// Head returns the first n rows, or all if there are fewer.
func (f *Frame) Head(n int) *Frame { return f.Slice(0, max(0, min(n, f.Len()))) }

// Tail returns the last n rows, or all if there are fewer.
func (f *Frame) Tail(n int) *Frame { return f.Slice(f.Len()-max(0, min(n, f.Len())), f.Len()) }

// Shuffled returns the rows in a random order, which depends only on the seed.
func (f *Frame) Shuffled(seed uint64) *Frame {
	return f.take(rand.New(rand.NewPCG(seed, 0)).Perm(f.Len()))
}

// RandomSplit shuffles the rows, as Shuffled does, and divides them: the first frame has the given
// fraction of them, rounded, as with RandomSplit of a data.Dataset. It panics if fraction is not
// between 0 and 1.
func (f *Frame) RandomSplit(fraction float64, seed uint64) (first, rest *Frame) {
	if !(fraction >= 0 && fraction <= 1) {
		panic(fmt.Errorf("frame: RandomSplit with the fraction %v: use one between 0 and 1", fraction))
	}
	n := int(math.Round(fraction * float64(f.Len())))
	shuffled := f.Shuffled(seed)
	return shuffled.Slice(0, n), shuffled.Slice(n, f.Len())
}

// Append returns the rows of this frame followed by those of others, which must have the same
// columns in any order. A column of ints and one of floats become one of floats; for other
// differences of type, Append panics with a [*TypeError].
func (f *Frame) Append(others ...*Frame) *Frame {
	rows := f.Len()
	for _, o := range others {
		for _, c := range o.all() {
			f.place(c.name)
		}
		rows += o.Len()
	}
	columns := slices.Clone(f.all())
	for i, c := range columns {
		parts := []Column{c}
		for _, o := range others {
			parts = append(parts, o.Column(c.name))
		}
		columns[i].cells = concatenate(parts)
	}
	return build(columns, rows)
}

// concatenate joins columns of one type, or of ints and floats.
func concatenate(parts []Column) cells {
	all := make([]cells, len(parts))
	float := slices.ContainsFunc(parts, func(c Column) bool { return c.Type() == Float })
	for i, c := range parts {
		all[i] = c.cells
		switch {
		case c.Type() == parts[0].Type() && !float:
		case float && (c.Type() == Int || c.Type() == Float):
			all[i] = &list[float64]{values: c.Floats()}
		default:
			panic(c.typeError("a column of type " + parts[0].Type().String() + " as in the other frame"))
		}
	}
	return all[0].join(all[1:])
}

// DropMissing returns the rows that have a value in each of the columns, or without names in each
// column of the frame.
func (f *Frame) DropMissing(names ...string) *Frame {
	if len(names) == 0 {
		names = f.Columns()
	}
	some := f.Select(names...)
	var rows []int
row:
	for i := range f.Len() {
		for _, c := range some.columns {
			if c.cells.missing(i) {
				continue row
			}
		}
		rows = append(rows, i)
	}
	return f.take(rows)
}

// FillMissing returns the frame with a value instead of the missing ones of a column. The value
// has the type of the column: float64 or int, bool, string or time.Time. FillMissing panics with a
// [*TypeError] if it has not. A number with a fraction turns a column of ints into one of floats.
func (f *Frame) FillMissing(name string, value any) *Frame {
	c := f.Column(name)
	with, kind := constant(value)
	switch {
	case kind == c.Type():
	case kind == Int && c.Type() == Float:
		with = &list[float64]{values: []float64{float64(value.(int))}}
	case kind == Float && c.Type() == Int:
		c = Column{name: name, cells: &list[float64]{values: c.Floats()}}
	default:
		panic(c.typeError(fmt.Sprintf("one that can contain %v, of type %T,", value, value)))
	}
	c.cells = c.cells.fill(with)
	return f.With(c)
}

// constant returns cells of one value.
func constant(value any) (cells, Type) {
	switch v := value.(type) {
	case float64:
		return &list[float64]{values: []float64{v}}, Float
	case int:
		return &list[int]{values: []int{v}}, Int
	case bool:
		return &list[bool]{values: []bool{v}}, Bool
	case string:
		return &list[string]{values: []string{v}}, Text
	case time.Time:
		return &list[time.Time]{values: []time.Time{v}}, Time
	}
	return nil, -1
}
