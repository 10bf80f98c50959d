package frame

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/quernlab/quern/accel/internal/tfrecord"
)

// TFRecord is [ReadTFRecord] for a file.
func TFRecord(path string, columns ...string) (*Frame, error) {
	return readFile(path, func(r io.Reader) (*Frame, error) { return ReadTFRecord(r, columns...) })
}

// ReadTFRecord reads a table in TensorFlow's TFRecord format, whose records are messages tf.train.Example,
// uncompressed or compressed with gzip. With names it reads only these columns, in this order; without, the
// columns have the order of their names. The checksums of all records are compared.
//
// A feature of type int64_list, float_list or bytes_list becomes a column of ints, floats or text. A record
// without the feature, or with an empty list, has a missing value. A list of several values, bytes that are not
// UTF-8 and values of two types are a [*FileError], unless only other columns are read: data.TFRecord reads
// lists and images.
func ReadTFRecord(r io.Reader, columns ...string) (*Frame, error) {
	content, err := tfrecord.Content(r)
	if err != nil {
		return nil, tfrecordError(err)
	}
	records := bytes.NewReader(content)
	places, err := tfrecord.Index(records, int64(len(content)))
	if err != nil {
		return nil, tfrecordError(err)
	}
	t := tfrecordTable{cells: map[string]cells{}}
	for _, name := range columns {
		t.cells[name] = nil
	}
	t.all = len(columns) == 0
	seen := map[string]bool{}
	for i, p := range places {
		data, err := tfrecord.Read(records, p, i+1)
		if err != nil {
			return nil, tfrecordError(err)
		}
		features, err := tfrecord.Parse(data, i+1)
		if err != nil {
			return nil, tfrecordError(err)
		}
		for name := range features {
			seen[name] = true
		}
		if err := t.add(features); err != nil {
			return nil, err
		}
	}
	names := slices.Sorted(maps.Keys(seen))
	chosen, err := chooseColumns(names, columns)
	if err != nil {
		return nil, err
	}
	read := make([]Column, len(chosen))
	for k, i := range chosen {
		c := t.cells[names[i]]
		if c == nil { // all lists are empty
			c = newCells(Float, 0)
		}
		for c.len() < t.rows {
			c.addMissing()
		}
		read[k] = Column{name: names[i], cells: c}
	}
	return build(read, t.rows), nil
}

// tfrecordTable collects the columns.
type tfrecordTable struct {
	rows  int
	all   bool             // columns that are not yet known are read, too
	cells map[string]cells // by name; nil before the first value
}

// tfrecordKinds are the kinds of features by the types of the columns that they become.
var tfrecordKinds = [...]tfrecord.Kind{Float: tfrecord.Floats, Int: tfrecord.Ints, Text: tfrecord.Bytes}

// add adds a row.
func (t *tfrecordTable) add(features map[string]tfrecord.Feature) error {
	t.rows++
	for name, f := range features {
		c, wanted := t.cells[name]
		if !wanted && !t.all || f.Len() == 0 {
			continue
		}
		wrong := func(want, format string, got ...any) error {
			return &FileError{Format: "TFRecord", Record: t.rows, Column: name, Want: want, Got: fmt.Sprintf(format, got...)}
		}
		if f.Len() > 1 {
			return wrong("one value", "%d: name the other columns to leave it out, or use data.TFRecord", f.Len())
		}
		if f.Kind == tfrecord.Bytes && !utf8.Valid(f.Bytes[0]) {
			return wrong("text in UTF-8", "%d other bytes: name the other columns to leave it out, or use data.TFRecord", len(f.Bytes[0]))
		}
		if c == nil {
			c = newCells(Type(slices.Index(tfrecordKinds[:], f.Kind)), 0)
			t.cells[name] = c
		}
		for c.len() < t.rows-1 {
			c.addMissing()
		}
		if want := tfrecordKinds[c.kind()]; f.Kind != want {
			return wrong(fmt.Sprintf("%v, as in the records before", want), "%v", f.Kind)
		}
		switch l := c.(type) {
		case *list[int]:
			if int64(int(f.Ints[0])) != f.Ints[0] {
				return wrong("an integer in the range of int", "%d", f.Ints[0])
			}
			l.add(int(f.Ints[0]))
		case *list[float64]:
			l.add(float64(f.Floats[0]))
		case *list[string]:
			l.add(string(f.Bytes[0]))
		}
	}
	return nil
}

// tfrecordError returns an error of package tfrecord as a [*FileError].
func tfrecordError(err error) error {
	if invalid, ok := errors.AsType[*tfrecord.Error](err); ok {
		return &FileError{Format: "TFRecord", Record: invalid.Record, Want: invalid.Want, Got: invalid.Got}
	}
	return fmt.Errorf("reading TFRecord: %w", err)
}
