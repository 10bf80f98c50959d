package frame

import (
	"fmt"
	"slices"
)

// The types of Apache Arrow, numbered as the union Type of Schema.fbs.
const (
	arrowNull = 1 + iota
	arrowInt
	arrowFloat
	arrowBinary
	arrowUtf8
	arrowBool
	arrowDecimal
	arrowDate
	arrowTime
	arrowTimestamp
	arrowInterval
	arrowList
	arrowStruct
	arrowUnion
	arrowFixedSizeBinary
	arrowFixedSizeList
	arrowMap
	arrowDuration
	arrowLargeBinary
	arrowLargeUtf8
	arrowLargeList
	arrowRunEndEncoded
	arrowBinaryView
	arrowUtf8View
	arrowListView
	arrowLargeListView
)

var arrowTypeNames = []string{"", "null", "int", "float", "binary", "string", "bool", "decimal", "date", "time", "timestamp", "interval", "list", "struct", "union",
	"fixed-size binary", "fixed-size list", "map", "duration", "large binary", "large string", "large list", "run-end encoded", "binary view", "string view", "list view", "large list view"}

// arrowField is a column of the schema.
type arrowField struct {
	name       string
	number     int // of its type
	bits       int // of integers, floats and decimals
	unsigned   bool
	scale      int // of decimals
	unit       int // of dates and timestamps
	dense      bool
	children   []arrowField
	dictionary *arrowEncoding // nil if the values are in the batches
}

// arrowEncoding says that a column has the indices of values in a dictionary.
type arrowEncoding struct {
	id    int64
	index arrowField
}

// maxArrowDepth is the depth of lists in lists and so on up to which a field is read.
const maxArrowDepth = 64

func newArrowField(t flatTable, depth int) (arrowField, error) {
	f := arrowField{name: t.string(0), number: int(t.int(2, 1, 0))}
	if f.number < 1 || f.number >= len(arrowTypeNames) || depth > maxArrowDepth {
		return f, &FileError{Format: "Arrow", Column: f.name, Want: fmt.Sprintf("one of %d types, nested up to %d times", len(arrowTypeNames)-1, maxArrowDepth), Got: fmt.Sprintf("type %d", f.number)}
	}
	if kind, ok := t.table(3); ok {
		switch f.number {
		case arrowInt:
			f.setInt(kind)
		case arrowFloat:
			f.bits = 16 << kind.int(0, 2, 0)
		case arrowDecimal:
			f.scale, f.bits = int(kind.int(1, 4, 0)), int(kind.int(2, 4, 128))
		case arrowDate:
			f.unit = int(kind.int(0, 2, 1))
		case arrowTimestamp:
			f.unit = int(kind.int(0, 2, 0))
		case arrowUnion:
			f.dense = kind.int(0, 2, 0) == 1
		}
	}
	if e, ok := t.table(4); ok {
		index := arrowField{number: arrowInt, bits: 32}
		if kind, ok := e.table(1); ok {
			index.setInt(kind)
		}
		f.dictionary = &arrowEncoding{id: e.int(0, 8, 0), index: index}
	}
	for _, child := range t.tables(5) {
		c, err := newArrowField(child, depth+1)
		if err != nil {
			return f, err
		}
		f.children = append(f.children, c)
	}
	return f, nil
}

func (f *arrowField) setInt(kind flatTable) {
	f.bits, f.unsigned = int(kind.int(0, 4, 0)), kind.int(1, 1, 0) == 0
}

// supported reports whether the values can be those of a column.
func (f *arrowField) supported() bool {
	sized := func(f *arrowField, bits ...int) bool { return slices.Contains(bits, f.bits) }
	if f.dictionary != nil && !sized(&f.dictionary.index, 8, 16, 32, 64) {
		return false
	}
	switch f.number {
	case arrowInt:
		return sized(f, 8, 16, 32, 64)
	case arrowFloat:
		return sized(f, 16, 32, 64)
	case arrowDecimal:
		return sized(f, 32, 64, 128, 256)
	case arrowDate:
		return f.unit == 0 || f.unit == 1
	case arrowTimestamp:
		return f.unit >= 0 && f.unit <= 3
	case arrowNull, arrowBool, arrowUtf8, arrowLargeUtf8, arrowUtf8View:
		return true
	}
	return false
}

// typeName names the type for errors.
func (f *arrowField) typeName() string {
	name := arrowTypeNames[f.number]
	if f.bits > 0 {
		name += fmt.Sprintf(" of %d bits", f.bits)
	}
	return name
}

// kind returns the type of the column that a supported field becomes.
func (f *arrowField) kind() Type {
	switch f.number {
	case arrowInt:
		return Int
	case arrowBool:
		return Bool
	case arrowUtf8, arrowLargeUtf8, arrowUtf8View:
		return Text
	case arrowDate, arrowTimestamp:
		return Time
	}
	return Float
}

// buffers returns how many buffers of a batch belong to the field without its children, and whether a variable number
// follows them. A null type and run-end encoding have none, unions have no mask of missing values.
func (f *arrowField) buffers() (n int, variable bool) {
	if f.dictionary != nil {
		return 2, false
	}
	switch f.number {
	case arrowNull, arrowRunEndEncoded:
		return 0, false
	case arrowStruct, arrowFixedSizeList:
		return 1, false
	case arrowBinary, arrowUtf8, arrowLargeBinary, arrowLargeUtf8, arrowListView, arrowLargeListView:
		return 3, false
	case arrowBinaryView, arrowUtf8View:
		return 2, true
	case arrowUnion:
		if !f.dense {
			return 1, false
		}
	}
	return 2, false
}
