package frame

import (
	"fmt"
	"time"
)

// DropMissing returns the rows that have a value in each of the columns, or without names in each
// column of the frame.
func (f *Frame) DropMissing(names ...string) *Frame {
	if len(names) == 0 {
		names = f.Columns()
	}
	some := f.Select(names...)
	var rows []int
row:
	for i := range f.rows {
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
