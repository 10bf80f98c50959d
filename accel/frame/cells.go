package frame

import (
	"cmp"
	"math"
	"time"
)

// cells are the values of a column, which are never modified. Indices are in [0, len).
type cells interface {
	kind() Type
	len() int
	missing(i int) bool
	// take returns the cells of rows, where row -1 stands for a missing value.
	take(rows []int) cells
	slice(from, to int) cells
	// lengthened returns so many cells, which begin with these values; no value is missing.
	lengthened(rows int) cells
	// join appends cells of the same type.
	join(others []cells) cells
	// compare orders two values that are present.
	compare(i, j int) int
	// codes numbers the different values from 0 in the order in which they occur, and returns
	// their count. Missing values are -1.
	codes() ([]int, int)
	// addMissing appends a missing value, and setMissing makes value i a missing one. Only who makes the cells calls them.
	addMissing()
	setMissing(i int)
	// fill replaces missing values by a value of the same type.
	fill(value cells) cells
}

// list is cells of Go values. A missing value is the zero value, except that in a list of
// float64 it is NaN and there is no mask.
type list[T comparable] struct {
	values []T
	absent []bool // nil if no value is missing
}

func (l *list[T]) kind() Type {
	switch any(l).(type) {
	case *list[float64]:
		return Float
	case *list[int]:
		return Int
	case *list[bool]:
		return Bool
	case *list[string]:
		return Text
	}
	return Time
}

func (l *list[T]) len() int { return len(l.values) }

func (l *list[T]) missing(i int) bool {
	if f, ok := any(l.values).([]float64); ok {
		return math.IsNaN(f[i])
	}
	return l.absent != nil && l.absent[i]
}

func (l *list[T]) take(rows []int) cells {
	t := &list[T]{values: make([]T, len(rows))}
	for k, i := range rows {
		if i < 0 || l.absent != nil && l.absent[i] {
			t.setMissing(k)
		} else {
			t.values[k] = l.values[i]
		}
	}
	return t
}

// missingValue returns what a list has in the place of a missing value.
func missingValue[T comparable]() (none T) {
	if f, ok := any(&none).(*float64); ok {
		*f = math.NaN()
	}
	return none
}

// add appends a value. Only who makes the list calls it.
func (l *list[T]) add(v T) {
	l.values = append(l.values, v)
	if l.absent != nil {
		l.absent = append(l.absent, false)
	}
}

func (l *list[T]) addMissing() {
	var none T
	l.add(none)
	l.setMissing(len(l.values) - 1)
}

func (l *list[T]) setMissing(i int) {
	if l.values[i] = missingValue[T](); l.kind() == Float {
		return
	}
	if l.absent == nil {
		l.absent = make([]bool, len(l.values))
	}
	l.absent[i] = true
}

func (l *list[T]) slice(from, to int) cells {
	t := &list[T]{values: l.values[from:to:to]}
	if l.absent != nil {
		t.absent = l.absent[from:to:to]
	}
	return t
}

func (l *list[T]) lengthened(rows int) cells {
	values := make([]T, rows)
	copy(values, l.values)
	return &list[T]{values: values}
}

func (l *list[T]) join(others []cells) cells {
	t := &list[T]{}
	for _, c := range append([]cells{l}, others...) {
		o, ok := c.(*list[T])
		if !ok {
			panic("frame: joined cells of two types")
		}
		from := len(t.values)
		t.values = append(t.values, o.values...)
		if o.absent != nil && t.absent == nil {
			t.absent = make([]bool, from, cap(t.values))
		}
		switch {
		case o.absent != nil:
			t.absent = append(t.absent, o.absent...)
		case t.absent != nil:
			t.absent = append(t.absent, make([]bool, len(o.values))...)
		}
	}
	return t
}

func (l *list[T]) compare(i, j int) int {
	switch v := any(l.values).(type) {
	case []float64:
		return cmp.Compare(v[i], v[j])
	case []int:
		return cmp.Compare(v[i], v[j])
	case []string:
		return cmp.Compare(v[i], v[j])
	case []time.Time:
		return v[i].Compare(v[j])
	case []bool:
		switch {
		case v[i] == v[j]:
			return 0
		case v[j]:
			return -1
		}
		return 1
	}
	panic("frame: cells of an unknown type")
}

func (l *list[T]) codes() ([]int, int) {
	seen := map[T]int{}
	codes := make([]int, len(l.values))
	for i, v := range l.values {
		if l.missing(i) {
			codes[i] = -1
			continue
		}
		if t, ok := any(&v).(*time.Time); ok {
			*t = t.UTC().Round(0) // the same instant in two time zones
		}
		code, ok := seen[v]
		if !ok {
			code = len(seen)
			seen[v] = code
		}
		codes[i] = code
	}
	return codes, len(seen)
}

func (l *list[T]) fill(value cells) cells {
	v := value.(*list[T]).values[0]
	t := &list[T]{values: make([]T, len(l.values))}
	for i := range l.values {
		if t.values[i] = l.values[i]; l.missing(i) {
			t.values[i] = v
		}
	}
	return t
}
