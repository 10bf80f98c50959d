package frame

import (
	"fmt"
	"math"
)

// appendValue adds a value to cells that a reader of files makes.
func appendValue[T comparable](l *list[T], v T) {
	l.values = append(l.values, v)
	if l.absent != nil {
		l.absent = append(l.absent, false)
	}
}

// appendMissing adds a missing value.
func appendMissing(c cells) {
	switch l := c.(type) {
	case *list[float64]:
		l.values = append(l.values, math.NaN())
	case *list[int]:
		addAbsent(l)
	case *list[bool]:
		addAbsent(l)
	case *list[string]:
		addAbsent(l)
	default:
		addAbsent(c.(timeList))
	}
}

func addAbsent[T comparable](l *list[T]) {
	var none T
	if l.absent == nil {
		l.absent = make([]bool, len(l.values))
	}
	l.values, l.absent = append(l.values, none), append(l.absent, true)
}

// damaged turns a panic of a library that reads a damaged file into an error.
func damaged(format string, err *error) {
	if p := recover(); p != nil {
		*err = &FileError{Format: format, Want: "a valid file", Got: fmt.Sprint("damaged data: ", p)}
	}
}

// chooseColumns returns the indices of the chosen names, or of all if none are chosen.
func chooseColumns(names, chosen []string) ([]int, error) {
	if len(chosen) == 0 {
		chosen = names
	}
	indices := make([]int, len(chosen))
	for k, name := range chosen {
		indices[k] = -1
		for i, n := range names {
			if n == name {
				indices[k] = i
			}
		}
		if indices[k] < 0 {
			return nil, &ColumnError{Name: name, Columns: names}
		}
		for _, i := range indices[:k] {
			if i == indices[k] {
				return nil, &ColumnError{Name: name, Duplicate: true}
			}
		}
	}
	return indices, nil
}
