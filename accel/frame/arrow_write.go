package frame

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"time"
	"unicode/utf8"

	"github.com/quernlab/quern/internal/atomicfile"
)

// WriteArrow writes the frame to a file in the file format of Apache Arrow, which pandas calls Feather. The
// file is replaced when everything has been written, so it never has only a part. See [Frame.FormatArrow].
func (f *Frame) WriteArrow(path string) error {
	if err := atomicfile.Replace(path, f.FormatArrow); err != nil {
		return writeError("Arrow", path, err)
	}
	return nil
}

// FormatArrow writes the frame in the file format of Apache Arrow to w, without compression. [ReadArrow] reads
// the same columns from it: numbers of 64 bits, bools, text, and times with the zone UTC, in nanoseconds, or in
// microseconds if one is before 1678 or after 2261. Missing values are null.
//
// It fails with a [*FileError] if a text is not UTF-8, or if a time has no such number.
func (f *Frame) FormatArrow(w io.Writer) error {
	a := arrowWriter{w: w}
	units := make([]timeUnit, len(f.all()))
	for k, c := range f.all() {
		var err error
		if units[k], err = checkWritable("Arrow", c); err != nil {
			return err
		}
	}
	a.write([]byte("ARROW1\x00\x00"))
	schema := func(b *flatWriter) int { return arrowSchemaTable(b, f.all(), units) }
	a.message(arrowSchema, schema, nil)
	for from := 0; from < f.Len(); from += arrowRows {
		a.batch(f.all(), units, from, min(from+arrowRows, f.Len()))
	}
	a.write([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}) // the end of the messages
	var b flatWriter
	batches := b.structs(len(a.blocks)/24, a.blocks)
	none := b.structs(0, nil)
	footer := b.finish(b.table(flatInt(arrowVersion5, 2), flatRef(schema(&b)), flatRef(none), flatRef(batches)))
	a.write(footer)
	a.write(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))))
	a.write(arrowMagic)
	return a.err
}

// arrowRows is the number of rows in a batch.
const arrowRows = 1 << 16

// arrowWriter writes messages and remembers where they are.
type arrowWriter struct {
	w      io.Writer
	at     int64
	blocks []byte // the places of batches, for the footer
	err    error
}

func (a *arrowWriter) write(b []byte) {
	if a.err == nil {
		_, a.err = a.w.Write(b)
		a.at += int64(len(b))
	}
}

// message writes a message: its length, metadata, and the buffers of a batch.
func (a *arrowWriter) message(kind int64, header func(*flatWriter) int, body []byte) (metadata int) {
	var b flatWriter
	at := header(&b)
	m := b.finish(b.table(flatInt(arrowVersion5, 2), flatInt(kind, 1), flatRef(at), flatInt(int64(len(body)), 8)))
	a.write(binary.LittleEndian.AppendUint32([]byte{0xff, 0xff, 0xff, 0xff}, uint32(len(m))))
	a.write(m)
	a.write(body)
	return 8 + len(m)
}

// batch writes some rows.
func (a *arrowWriter) batch(columns []Column, units []timeUnit, from, to int) {
	var body, nodes, places []byte
	add := func(b []byte) {
		places = binary.LittleEndian.AppendUint64(places, uint64(len(body)))
		places = binary.LittleEndian.AppendUint64(places, uint64(len(b)))
		body = append(body, b...)
		body = append(body, make([]byte, (64-len(body)%64)%64)...)
	}
	for k, c := range columns {
		part := Column{cells: c.cells.slice(from, to)}
		missing := part.CountMissing()
		nodes = binary.LittleEndian.AppendUint64(nodes, uint64(to-from))
		nodes = binary.LittleEndian.AppendUint64(nodes, uint64(missing))
		var mask []byte
		if missing > 0 {
			mask = bitmap(to-from, func(i int) bool { return !part.Missing(i) })
		}
		add(mask)
		for _, b := range arrowBuffers(part, units[k]) {
			add(b)
		}
	}
	at := a.at
	metadata := a.message(arrowRecordBatch, func(b *flatWriter) int {
		n, p := b.structs(len(columns), nodes), b.structs(len(places)/16, places)
		return b.table(flatInt(int64(to-from), 8), flatRef(n), flatRef(p))
	}, body)
	a.blocks = binary.LittleEndian.AppendUint64(a.blocks, uint64(at))
	a.blocks = binary.LittleEndian.AppendUint64(a.blocks, uint64(metadata))
	a.blocks = binary.LittleEndian.AppendUint64(a.blocks, uint64(len(body)))
}

// arrowBuffers returns the values of a column.
func arrowBuffers(c Column, unit timeUnit) [][]byte {
	n := c.Len()
	words := make([]byte, 0, 8*n)
	switch l := c.cells.(type) {
	case *list[float64]:
		for i, v := range l.values {
			if c.Missing(i) {
				v = 0
			}
			words = binary.LittleEndian.AppendUint64(words, math.Float64bits(v))
		}
	case *list[int]:
		for _, v := range l.values {
			words = binary.LittleEndian.AppendUint64(words, uint64(v))
		}
	case *list[time.Time]:
		for i, v := range l.values {
			if c.Missing(i) {
				v = time.Unix(0, 0)
			}
			words = binary.LittleEndian.AppendUint64(words, uint64(unit.number(v)))
		}
	case *list[bool]:
		return [][]byte{bitmap(n, func(i int) bool { return l.values[i] })}
	case *list[string]:
		var text []byte
		words = binary.LittleEndian.AppendUint64(words, 0)
		for _, s := range l.values {
			text = append(text, s...)
			words = binary.LittleEndian.AppendUint64(words, uint64(len(text)))
		}
		return [][]byte{words, text}
	}
	return [][]byte{words}
}

// bitmap returns n bits.
func bitmap(n int, bit func(i int) bool) []byte {
	b := make([]byte, (n+7)/8)
	for i := range n {
		if bit(i) {
			b[i/8] |= 1 << (i % 8)
		}
	}
	return b
}

// arrowSchemaTable writes names and types of the columns (Schema.fbs of Apache Arrow).
func arrowSchemaTable(b *flatWriter, columns []Column, units []timeUnit) int {
	fields := make([]int, len(columns))
	for k, c := range columns {
		var number, kind int
		switch c.Type() {
		case Int:
			number, kind = arrowInt, b.table(flatInt(64, 4), flatInt(1, 1)) // signed
		case Float:
			number, kind = arrowFloat, b.table(flatInt(2, 2)) // double precision
		case Bool:
			number, kind = arrowBool, b.table()
		case Text:
			number, kind = arrowLargeUtf8, b.table()
		case Time:
			number, kind = arrowTimestamp, b.table(flatInt(int64(units[k]), 2), flatRef(b.string("UTC")))
		}
		name, children := b.string(c.name), b.tables(nil)
		fields[k] = b.table(flatRef(name), flatInt(1, 1), flatInt(int64(number), 1), flatRef(kind), flatField{}, flatRef(children))
	}
	list := b.tables(fields)
	return b.table(flatInt(0, 2), flatRef(list)) // little endian
}

// timeUnit is what times are counted in, numbered as TimeUnit in Schema.fbs.
type timeUnit int

const (
	microseconds timeUnit = 2
	nanoseconds  timeUnit = 3
)

// number returns the number of units since 1970.
func (u timeUnit) number(t time.Time) int64 {
	if u == microseconds {
		return t.UnixMicro()
	}
	return t.UnixNano()
}

// checkWritable returns the unit of the times of a column, and an error if a text is not UTF-8, or if no unit
// fits the times.
func checkWritable(format string, c Column) (timeUnit, error) {
	unit := nanoseconds
	switch l := c.cells.(type) {
	case *list[string]:
		for i, s := range l.values {
			if !utf8.ValidString(s) {
				return unit, &FileError{Format: format, Column: c.name, Want: "text in UTF-8", Got: fmt.Sprintf("%q in row %d", s, i)}
			}
		}
	case *list[time.Time]:
		for i, v := range l.values {
			if !c.Missing(i) && !time.Unix(0, v.UnixNano()).Equal(v) {
				unit = microseconds
			}
		}
		for i, v := range l.values {
			if unit == microseconds && !c.Missing(i) && !time.UnixMicro(v.UnixMicro()).Equal(v) {
				return unit, &FileError{Format: format, Column: c.name, Want: "times from 1678 to 2261, or whole microseconds, in the whole column", Got: fmt.Sprintf("%v in row %d", v, i)}
			}
		}
	}
	if !utf8.ValidString(c.name) {
		return unit, &FileError{Format: format, Column: c.name, Want: "a name in UTF-8", Got: fmt.Sprintf("%q", c.name)}
	}
	return unit, nil
}

// writeError adds the file to an error.
func writeError(format, path string, err error) error {
	if invalid, ok := err.(*FileError); ok { //nolint:errorlint // the one that was just made
		invalid.Path = path
		return invalid
	}
	return fmt.Errorf("frame: writing %s: %w", format, err)
}
