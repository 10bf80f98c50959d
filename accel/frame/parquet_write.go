//go:build !js

package frame

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/quernlab/quern/internal/atomicfile"
)

// WriteParquet writes the frame to a file in Parquet format. The file is replaced when everything has been
// written, so it never has only a part. See [Frame.FormatParquet].
func (f *Frame) WriteParquet(path string) error {
	if err := atomicfile.Replace(path, f.FormatParquet); err != nil {
		return writeError("Parquet", path, err)
	}
	return nil
}

// FormatParquet writes the frame in Parquet format, compressed with Snappy, to w. [ReadParquet] reads the same
// columns from it: numbers of 64 bits, bools, text, and times with the zone UTC, in nanoseconds, or in
// microseconds if one is before 1678 or after 2261. Missing values are null.
//
// It fails with a [*FileError] if there are no columns, which the format does not have, if a text is not UTF-8,
// or if a time has no such number.
func (f *Frame) FormatParquet(w io.Writer) (err error) {
	if len(f.columns) == 0 {
		return &FileError{Format: "Parquet", Want: "at least one column", Got: "none"}
	}
	if len(f.columns) > parquet.MaxColumnIndex {
		return &FileError{Format: "Parquet", Want: fmt.Sprintf("at most %d columns", parquet.MaxColumnIndex), Got: fmt.Sprint(len(f.columns))}
	}
	schema := parquetSchema{Group: parquet.Group{}}
	values := make([]func(i int) parquet.Value, len(f.columns))
	for k, c := range f.columns {
		unit, err := checkWritable("Parquet", c)
		if err != nil {
			return err
		}
		var node parquet.Node
		node, values[k] = parquetColumn(c, unit)
		schema.fields = append(schema.fields, parquetField{parquet.Optional(node), c.name})
	}
	out := parquet.NewWriter(w, parquet.NewSchema("frame", schema), parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(1<<20))
	defer func() {
		if e := out.Close(); err == nil {
			err = e
		}
	}()
	for from := 0; from < f.rows; from += parquetRows {
		var rows []parquet.Row
		for i := from; i < min(from+parquetRows, f.rows); i++ {
			row := make(parquet.Row, len(f.columns))
			for k, c := range f.columns {
				if c.Missing(i) {
					row[k] = parquet.NullValue().Level(0, 0, k)
				} else {
					row[k] = values[k](i).Level(0, 1, k)
				}
			}
			rows = append(rows, row)
		}
		n, err := out.WriteRows(rows)
		if err != nil {
			return err
		}
		if n != len(rows) {
			return errors.New("rows are missing")
		}
	}
	return nil
}

// parquetRows is the number of rows that are converted at once.
const parquetRows = 1024

// parquetColumn returns the type of a column, and what returns its values that are not missing.
func parquetColumn(c Column, unit timeUnit) (parquet.Node, func(i int) parquet.Value) {
	switch l := c.cells.(type) {
	case *list[int]:
		return parquet.Int(64), func(i int) parquet.Value { return parquet.Int64Value(int64(l.values[i])) }
	case *list[bool]:
		return parquet.Leaf(parquet.BooleanType), func(i int) parquet.Value { return parquet.BooleanValue(l.values[i]) }
	case *list[string]:
		return parquet.String(), func(i int) parquet.Value { return parquet.ByteArrayValue([]byte(l.values[i])) }
	case *list[time.Time]:
		of := parquet.Nanosecond
		if unit == microseconds {
			of = parquet.Microsecond
		}
		return parquet.Timestamp(of), func(i int) parquet.Value { return parquet.Int64Value(unit.number(l.values[i])) }
	}
	l := c.cells.(*list[float64])
	return parquet.Leaf(parquet.DoubleType), func(i int) parquet.Value { return parquet.DoubleValue(l.values[i]) }
}

// parquetSchema is a group whose columns have the order of the frame: a parquet.Group sorts them by name.
type parquetSchema struct {
	parquet.Group
	fields []parquet.Field
}

func (s parquetSchema) Fields() []parquet.Field { return s.fields }

// parquetField is a column of a schema.
type parquetField struct {
	parquet.Node
	name string
}

func (f parquetField) Name() string { return f.name }

// Value is for rows of Go structs, which are not used.
func (f parquetField) Value(reflect.Value) reflect.Value { return reflect.Value{} }
