package frame

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// Type is the type of a column's values.
type Type int

// The types of columns.
const (
	Float Type = iota // float64; NaN is a missing value
	Int               // int
	Bool              // bool
	Text              // string
	Time              // time.Time
)

// String returns the name of the type in lower case.
func (t Type) String() string {
	if t < Float || t > Time {
		return "Type(" + strconv.Itoa(int(t)) + ")"
	}
	return [...]string{"float", "int", "bool", "text", "time"}[t]
}

// Column is a named list of values of one type. It is immutable.
type Column struct {
	name  string
	cells cells
	mixed string // why a column of a file is text although it has values of other types
}

// Floats makes a column of numbers, of which NaN is a missing value. Like the other constructors
// it copies the values.
func Floats(name string, values ...float64) Column {
	return Column{name: name, cells: &list[float64]{values: slices.Clone(values)}}
}

// Ints makes a column of whole numbers.
func Ints(name string, values ...int) Column {
	return Column{name: name, cells: &list[int]{values: slices.Clone(values)}}
}

// Bools makes a column of truth values.
func Bools(name string, values ...bool) Column {
	return Column{name: name, cells: &list[bool]{values: slices.Clone(values)}}
}

// Texts makes a column of strings. An empty string is a value; it is not missing.
func Texts(name string, values ...string) Column {
	return Column{name: name, cells: &list[string]{values: slices.Clone(values)}}
}

// Times makes a column of points in time, of which the zero time is a missing value.
func Times(name string, values ...time.Time) Column {
	l := &list[time.Time]{values: slices.Clone(values)}
	for i, v := range values {
		if v.IsZero() {
			l.setMissing(i)
		}
	}
	return Column{name: name, cells: l}
}

// Name returns the name of the column.
func (c Column) Name() string { return c.name }

// Type returns the type of its values.
func (c Column) Type() Type { return c.cells.kind() }

// Len returns the number of values, including missing ones.
func (c Column) Len() int { return c.cells.len() }

// Missing reports whether value i is missing. It panics if i is not in [0, Len).
func (c Column) Missing(i int) bool { return c.cells.missing(i) }

// CountMissing returns the number of missing values.
func (c Column) CountMissing() int {
	n := 0
	for i := range c.Len() {
		if c.cells.missing(i) {
			n++
		}
	}
	return n
}

// Named returns the column with another name.
func (c Column) Named(name string) Column {
	c.name = name
	return c
}

// Floats returns the values of a column of floats, ints or bools as numbers, true as 1. Missing
// values are NaN. It panics with a [*TypeError] for other types.
func (c Column) Floats() []float64 {
	values := make([]float64, c.Len())
	switch l := c.cells.(type) {
	case *list[float64]:
		copy(values, l.values)
		return values
	case *list[int]:
		for i, v := range l.values {
			values[i] = float64(v)
		}
	case *list[bool]:
		for i, v := range l.values {
			if v {
				values[i] = 1
			}
		}
	default:
		panic(c.typeError("a column of numbers or bools"))
	}
	for i := range values {
		if c.cells.missing(i) {
			values[i] = math.NaN()
		}
	}
	return values
}

// Ints returns the values of a column of ints. It panics with a [*TypeError] for another type and
// with a [*MissingError] if a value is missing.
func (c Column) Ints() []int { return present[int](c, "a column of ints") }

// Bools returns the values of a column of bools. It panics like Ints.
func (c Column) Bools() []bool { return present[bool](c, "a column of bools") }

// Times returns the values of a column of times, of which missing ones are the zero time. It
// panics with a [*TypeError] for another type.
func (c Column) Times() []time.Time {
	l, ok := c.cells.(*list[time.Time])
	if !ok {
		panic(c.typeError("a column of times"))
	}
	return slices.Clone(l.values)
}

// Texts returns the values as text: those of a column of text as they are, others as in a CSV
// file. Missing values are "".
func (c Column) Texts() []string {
	values := make([]string, c.Len())
	for i := range values {
		values[i] = c.Format(i)
	}
	return values
}

func present[T comparable](c Column, want string) []T {
	l, ok := c.cells.(*list[T])
	if !ok {
		panic(c.typeError(want))
	}
	if i := slices.Index(l.absent, true); i >= 0 {
		panic(&MissingError{Column: c.name, Row: i})
	}
	return slices.Clone(l.values)
}

func (c Column) typeError(want string) *TypeError {
	return &TypeError{Column: c.name, Type: c.Type(), Want: want, Reason: c.mixed}
}

// Format returns value i as text that [CSV] reads as the same value: the shortest decimal
// number, true or false, and a time in RFC 3339, as a date alone at midnight UTC. A missing value
// is "".
func (c Column) Format(i int) string {
	if c.cells.missing(i) {
		return ""
	}
	switch l := c.cells.(type) {
	case *list[float64]:
		return strconv.FormatFloat(l.values[i], 'g', -1, 64)
	case *list[int]:
		return strconv.Itoa(l.values[i])
	case *list[bool]:
		return strconv.FormatBool(l.values[i])
	case *list[string]:
		return l.values[i]
	case *list[time.Time]:
		if v := l.values[i]; v.Equal(v.UTC().Truncate(24*time.Hour)) && v.Location() == time.UTC {
			return v.Format(time.DateOnly)
		}
		return l.values[i].Format(time.RFC3339Nano)
	}
	panic("frame: cells of an unknown type")
}

// Distinct returns the different values as text, in the order in which they first occur, without
// missing ones.
func (c Column) Distinct() []string {
	codes, n := c.cells.codes()
	values := make([]string, 0, n)
	for i, code := range codes {
		if code == len(values) {
			values = append(values, c.Format(i))
		}
	}
	return values
}

// String describes the column in one line.
func (c Column) String() string {
	text := fmt.Sprintf("%s: %d values of type %s", c.name, c.Len(), c.Type())
	if n := c.CountMissing(); n > 0 {
		text += fmt.Sprintf(", %d missing", n)
	}
	return text
}
