//go:build !js

package frame

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/quernlab/quern/internal/atomicfile"
)

// Parquet is [ReadParquet] for a file.
func Parquet(path string, columns ...string) (*Frame, error) {
	return readFile(path, func(r io.Reader) (*Frame, error) {
		file := r.(*os.File)
		info, err := file.Stat()
		if err != nil {
			return nil, err
		}
		return ReadParquet(file, info.Size(), columns...)
	})
}

// ReadParquet reads a table in Parquet format of this many bytes, with any of its encodings and compressions. With
// names it reads only these columns, in this order. Columns within a group are named "group.column".
//
// Integers, dates, timestamps and text become the corresponding types; decimals become the nearest floats,
// timestamps have the time zone UTC, and a column of type null is one of floats without values. Lists, maps and
// other types, and unsigned integers beyond the range of int, are a [*FileError], unless only other columns are
// read.
func ReadParquet(r io.ReaderAt, size int64, columns ...string) (f *Frame, err error) {
	defer damaged("Parquet", &err)
	if err := checkFooter(r, size); err != nil {
		return nil, err
	}
	file, err := parquet.OpenFile(r, size)
	if err != nil {
		return nil, &FileError{Format: "Parquet", Want: "a valid file", Got: err.Error()}
	}
	leaves := leavesOf(file.Root())
	names := make([]string, len(leaves))
	for i, c := range leaves {
		names[i] = strings.Join(c.Path(), ".")
	}
	chosen, err := chooseColumns(names, columns)
	if err != nil {
		return nil, err
	}
	read := make([]Column, len(chosen))
	err = parallel(len(chosen), func(_, k int) (err error) {
		defer damaged("Parquet", &err)
		read[k], err = readParquetColumn(file, leaves[chosen[k]], names[chosen[k]])
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, c := range read {
		if int64(c.Len()) != file.NumRows() {
			return nil, &FileError{Format: "Parquet", Column: c.name, Want: fmt.Sprintf("%d values", file.NumRows()), Got: fmt.Sprint(c.Len())}
		}
	}
	return build(read, int(file.NumRows())), nil
}

// checkFooter checks the length of the metadata at the end of a file: parquet-go reads as much as it says.
func checkFooter(r io.ReaderAt, size int64) error {
	var end [8]byte // the length, and "PAR1"
	if size < 12 {
		return &FileError{Format: "Parquet", Want: "at least 12 bytes", Got: fmt.Sprint(size)}
	}
	if _, err := r.ReadAt(end[:], size-8); err != nil {
		return fmt.Errorf("reading Parquet: %w", err)
	}
	if mark := string(end[4:]); mark != "PAR1" && mark != "PARE" { // PARE: encrypted
		return &FileError{Format: "Parquet", Want: `"PAR1" at the end`, Got: fmt.Sprintf("%q: is this a complete Parquet file?", mark)}
	}
	if length := int64(binary.LittleEndian.Uint32(end[:])); length > size-12 {
		return &FileError{Format: "Parquet", Want: fmt.Sprintf("metadata of less than %d bytes", size-11), Got: fmt.Sprint(length)}
	}
	return nil
}

// leavesOf returns the columns with values.
func leavesOf(c *parquet.Column) []*parquet.Column {
	if c.Leaf() {
		return []*parquet.Column{c}
	}
	var leaves []*parquet.Column
	for _, child := range c.Columns() {
		leaves = append(leaves, leavesOf(child)...)
	}
	return leaves
}

func readParquetColumn(file *parquet.File, leaf *parquet.Column, name string) (Column, error) {
	if l := leaf.Type().LogicalType(); l != nil && leaf.MaxRepetitionLevel() == 0 {
		if _, null := l.Value.(*format.NullType); null { // how pandas writes a column of objects without values
			list, err := noValues("Parquet", name, file.NumRows())
			return Column{name: name, cells: list}, err
		}
	}
	kind, add := parquetValues(leaf)
	if leaf.MaxRepetitionLevel() > 0 || add == nil {
		return Column{}, &FileError{Format: "Parquet", Column: name, Want: "numbers, bools, text or times", Got: strings.TrimSpace(leaf.String()) + ": name the other columns to leave it out"}
	}
	c := Column{name: name, cells: newCells(kind, 0)}
	buffer := make([]parquet.Value, 1024)
	for _, group := range file.RowGroups() {
		if err := eachPage(group.ColumnChunks()[leaf.Index()].Pages(), func(page parquet.Page) error {
			values := page.Values()
			for {
				n, err := values.ReadValues(buffer)
				for _, v := range buffer[:n] {
					if v.IsNull() {
						c.cells.addMissing()
					} else if want := add(c.cells, v); want != "" {
						return &FileError{Format: "Parquet", Column: name, Want: want, Got: v.String()}
					}
				}
				if errors.Is(err, io.EOF) {
					return nil
				}
				if err != nil {
					return err
				}
			}
		}); err != nil {
			invalid, ok := errors.AsType[*FileError](err)
			if !ok {
				invalid = &FileError{Format: "Parquet", Column: name, Want: "a valid file", Got: err.Error()}
			}
			return Column{}, invalid
		}
	}
	return c, nil
}

func eachPage(pages parquet.Pages, read func(parquet.Page) error) error {
	defer pages.Close()
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = read(page)
		parquet.Release(page)
		if err != nil {
			return err
		}
	}
}

// parquetValues returns the type of a column, and what adds a value to its cells and returns what is wanted
// instead if it cannot. The function is nil if the type is not supported.
func parquetValues(leaf *parquet.Column) (Type, func(cells, parquet.Value) string) {
	var logical format.LogicalTypeValue
	if l := leaf.Type().LogicalType(); l != nil {
		logical = l.Value
	}
	kind := leaf.Type().Kind()
	integer := func(v parquet.Value) int64 {
		if kind == parquet.Int32 {
			return int64(v.Int32())
		}
		return v.Int64()
	}
	switch l := logical.(type) {
	case *format.DecimalType:
		return Float, func(c cells, v parquet.Value) string {
			var digits []byte
			if kind == parquet.Int32 || kind == parquet.Int64 {
				digits = binary.BigEndian.AppendUint64(nil, uint64(integer(v)))
			} else {
				digits = v.ByteArray()
			}
			x, ok := decimal(digits, int(l.Scale))
			if !ok {
				return "a decimal in the range of float64"
			}
			c.(*list[float64]).add(x)
			return ""
		}
	case *format.DateType:
		return Time, adds(func(v parquet.Value) time.Time { return time.Unix(86400*int64(v.Int32()), 0).UTC() })
	case *format.TimestampType:
		toTime := func(n int64) time.Time { return time.Unix(n/1e9, n%1e9) }
		switch l.Unit.Value.(type) {
		case *format.MilliSeconds:
			toTime = time.UnixMilli
		case *format.MicroSeconds:
			toTime = time.UnixMicro
		}
		return Time, adds(func(v parquet.Value) time.Time { return toTime(v.Int64()).UTC() })
	case *format.IntType:
		if !l.IsSigned {
			return Int, func(c cells, v parquet.Value) string {
				n := integer(v)
				if kind == parquet.Int32 {
					n = int64(uint32(n))
				}
				if n < 0 {
					return "an integer in the range of int"
				}
				c.(*list[int]).add(int(n))
				return ""
			}
		}
	case *format.StringType, *format.EnumType, *format.JsonType, nil:
	default:
		return 0, nil
	}
	return physicalValues(kind, integer)
}

// adds returns what adds a value to cells, for types of which all values can be read.
func adds[T comparable](of func(parquet.Value) T) func(cells, parquet.Value) string {
	return func(c cells, v parquet.Value) string {
		c.(*list[T]).add(of(v))
		return ""
	}
}

// physicalValues is parquetValues for types that say nothing more.
func physicalValues(kind parquet.Kind, integer func(parquet.Value) int64) (Type, func(cells, parquet.Value) string) {
	switch kind {
	case parquet.Boolean:
		return Bool, adds(parquet.Value.Boolean)
	case parquet.Int32, parquet.Int64:
		return Int, adds(func(v parquet.Value) int { return int(integer(v)) })
	case parquet.Int96: // a timestamp of old programs: nanoseconds of a day, and its Julian number
		return Time, adds(func(v parquet.Value) time.Time {
			w := v.Int96()
			return time.Unix(86400*(int64(w[2])-2440588), int64(uint64(w[1])<<32|uint64(w[0]))).UTC()
		})
	case parquet.Float:
		return Float, adds(func(v parquet.Value) float64 { return float64(v.Float()) })
	case parquet.Double:
		return Float, adds(parquet.Value.Double)
	case parquet.ByteArray:
		return Text, func(c cells, v parquet.Value) string {
			if !utf8.Valid(v.ByteArray()) {
				return "text in UTF-8"
			}
			c.(*list[string]).add(string(v.ByteArray()))
			return ""
		}
	}
	return 0, nil
}

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
	if len(f.all()) == 0 {
		return &FileError{Format: "Parquet", Want: "at least one column", Got: "none"}
	}
	if len(f.all()) > parquet.MaxColumnIndex {
		return &FileError{Format: "Parquet", Want: fmt.Sprintf("at most %d columns", parquet.MaxColumnIndex), Got: fmt.Sprint(len(f.all()))}
	}
	schema := parquetSchema{Group: parquet.Group{}}
	values := make([]func(i int) parquet.Value, len(f.all()))
	for k, c := range f.all() {
		unit, err := checkWritable("Parquet", c)
		if err != nil {
			return err
		}
		var node parquet.Node
		node, values[k] = parquetColumn(c, unit)
		schema.fields = append(schema.fields, parquetField{parquet.Optional(node), c.name})
	}
	out := parquet.NewWriter(w, parquet.NewSchema("frame", schema), parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(1<<20))
	defer func() { err = cmp.Or(err, out.Close()) }()
	for from := 0; from < f.Len(); from += parquetRows {
		var rows []parquet.Row
		for i := from; i < min(from+parquetRows, f.Len()); i++ {
			row := make(parquet.Row, len(f.all()))
			for k, c := range f.all() {
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
