package frame

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Arrow is [ReadArrow] for a file.
func Arrow(path string, columns ...string) (*Frame, error) {
	return readFile(path, func(r io.Reader) (*Frame, error) { return ReadArrow(r, columns...) })
}

// ReadArrow reads a table in the file format or the stream format of Apache Arrow, such as a file .arrow or .feather (version 2),
// also with buffers that are compressed with LZ4 or zstd. With names it reads only these columns, in this order.
//
// Integers, floats, bools, dates, timestamps and strings become the corresponding types, also if they are
// encoded with a dictionary; decimals become the nearest floats, timestamps have the time zone UTC, and a column of type
// null is one of floats without values. Lists, structs, binary data, durations and other types, and
// unsigned integers beyond the range of int, are a [*FileError], unless only other columns are read.
func ReadArrow(r io.Reader, columns ...string) (f *Frame, err error) {
	defer damaged("Arrow", &err)
	data, err := content(r)
	if err != nil {
		return nil, fmt.Errorf("reading Arrow: %w", err)
	}
	a, err := newArrowFile(data, columns)
	if err != nil {
		return nil, err
	}
	return a.read()
}

// arrowFile is an Arrow file in memory.
type arrowFile struct {
	fields   []arrowField
	chosen   []int // indices of the fields to read
	messages []arrowMessage
	isFile   bool // file format, in which dictionaries may come after the batches that use them
}

// arrowMessage is the metadata of a batch, and its buffers.
type arrowMessage struct {
	dictionary bool
	header     flatTable
	body       []byte
}

// Numbers in the metadata (Message.fbs of Apache Arrow).
const (
	arrowSchema      = 1
	arrowDictionary  = 2
	arrowRecordBatch = 3
	arrowVersion4    = 3 // since Arrow 0.8, of 2017
	arrowVersion5    = 4 // since Arrow 1.0, of 2020
)

// arrowMagic is at both ends of a file.
var arrowMagic = []byte("ARROW1")

func arrowError(want, got string) error { return &FileError{Format: "Arrow", Want: want, Got: got} }

func newArrowFile(data []byte, columns []string) (*arrowFile, error) {
	a := &arrowFile{isFile: bytes.HasPrefix(data, arrowMagic)}
	batches := -1
	switch kind := foreign(data); {
	case a.isFile:
		end := len(data) - 10
		if end < 8 || !bytes.HasSuffix(data, arrowMagic) {
			return nil, arrowError("ARROW1 at the end", "something else: is the file complete?")
		}
		footer := end - int(binary.LittleEndian.Uint32(data[end:]))
		blocks, _ := rootTable(data[footer:end]).vector(3, 24)
		batches = blocks
		data = data[8:footer]
	case kind != "":
		return nil, arrowError("an Arrow file", kind)
	case bytes.HasPrefix(data, []byte("FEA1")):
		return nil, arrowError("an Arrow file", "a Feather file of version 1: write it with version 2")
	case len(data) == 0:
		return nil, arrowError("an Arrow file", "nothing")
	}
	schema, err := a.split(data)
	if err != nil {
		return nil, err
	}
	found := 0
	for _, m := range a.messages {
		if !m.dictionary {
			found++
		}
	}
	if batches >= 0 && found != batches {
		return nil, arrowError(fmt.Sprintf("%d batches of rows, as the footer says", batches), fmt.Sprint(found))
	}
	if schema.int(0, 2, 0) != 0 {
		return nil, arrowError("integers in little endian", "big endian")
	}
	var names []string
	for _, t := range schema.tables(1) {
		f, err := newArrowField(t, 0)
		if err != nil {
			return nil, err
		}
		a.fields = append(a.fields, f)
		names = append(names, f.name)
	}
	a.chosen, err = chooseColumns(names, columns)
	return a, err
}

// split finds the messages of a stream, and returns the schema that it begins with.
func (a *arrowFile) split(data []byte) (schema flatTable, err error) {
	for first := true; len(data) >= 4; first = false {
		size := binary.LittleEndian.Uint32(data)
		data = data[4:]
		if size == 0xffffffff { // not before Arrow 0.15
			size, data = binary.LittleEndian.Uint32(data), data[4:]
		}
		if size == 0 {
			break
		}
		if int(size) > len(data) {
			return schema, arrowError(fmt.Sprintf("a message of %d bytes", size), fmt.Sprintf("%d: is this a complete Arrow file?", len(data)))
		}
		m := rootTable(data[:size])
		data = data[size:]
		if v := m.int(0, 2, 0); v != arrowVersion4 && v != arrowVersion5 {
			return schema, arrowError("metadata of version 4 or 5", fmt.Sprint(v+1))
		}
		kind := m.int(1, 1, 0)
		header, ok := m.table(2)
		if !ok || first != (kind == arrowSchema) {
			return schema, arrowError("a schema and then batches of rows", fmt.Sprintf("a message of type %d", kind))
		}
		body := data[:m.int(3, 8, 0)]
		data = data[len(body):]
		switch kind {
		case arrowSchema:
			schema = header
		case arrowDictionary, arrowRecordBatch:
			a.messages = append(a.messages, arrowMessage{kind == arrowDictionary, header, body})
		default:
			return schema, arrowError("a table", "a tensor")
		}
	}
	if schema.b == nil {
		return schema, arrowError("an Arrow file with a schema", "none")
	}
	return schema, nil
}

// read reads the chosen columns of all batches.
func (a *arrowFile) read() (*Frame, error) {
	for _, i := range a.chosen {
		if f := a.fields[i]; !f.supported() {
			return nil, &FileError{Format: "Arrow", Column: f.name, Want: "numbers, bools, text or times", Got: f.typeName() + ": name the other columns to leave it out"}
		}
	}
	parts := make([][]cells, len(a.chosen))
	dictionaries := map[int64]cells{}
	rows := 0
	if a.isFile {
		for _, m := range a.messages {
			if m.dictionary {
				if err := a.readDictionary(m, dictionaries); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, m := range a.messages {
		if m.dictionary {
			if !a.isFile {
				if err := a.readDictionary(m, dictionaries); err != nil {
					return nil, err
				}
			}
			continue
		}
		b := newArrowBatch(m.header, m.body)
		columns := b.columns(a.fields)
		for k, i := range a.chosen {
			c, err := columns[i].read(dictionaries)
			if err != nil {
				return nil, err
			}
			parts[k] = append(parts[k], c)
		}
		rows += b.rows
	}
	columns := make([]Column, len(a.chosen))
	for k, i := range a.chosen {
		columns[k] = Column{name: a.fields[i].name, cells: newCells(a.fields[i].kind(), 0)}
		if len(parts[k]) > 0 {
			columns[k].cells = parts[k][0].join(parts[k][1:])
		}
	}
	return build(columns, rows), nil
}

// readDictionary adds a dictionary, or values to one, if a chosen column uses it.
func (a *arrowFile) readDictionary(m arrowMessage, dictionaries map[int64]cells) error {
	id := m.header.int(0, 8, 0)
	for _, i := range a.chosen {
		f := a.fields[i]
		if f.dictionary == nil || f.dictionary.id != id {
			continue
		}
		f.dictionary = nil
		table, ok := m.header.table(1)
		if !ok {
			return arrowError("a dictionary with values", "none")
		}
		values, err := newArrowBatch(table, m.body).columns([]arrowField{f})[0].read(nil)
		if err != nil {
			return err
		}
		if before := dictionaries[id]; before != nil && m.header.int(2, 1, 0) != 0 {
			values = before.join([]cells{values})
		}
		dictionaries[id] = values
		return nil
	}
	return nil
}

// damaged turns the panic of reading a damaged file into an error.
func damaged(format string, err *error) {
	if p := recover(); p != nil {
		*err = &FileError{Format: format, Want: "a valid file", Got: fmt.Sprint("damaged data: ", p)}
	}
}

// arrowBatch is some rows of a file, or values of a dictionary.
type arrowBatch struct {
	rows     int
	nodes    []int64 // for each column, the number of its values and of missing ones
	places   []int64 // for each buffer, its offset in the body and its length
	variadic []int64
	codec    int64 // of the buffers, or -1
	body     []byte
}

// The codecs of buffers (BodyCompression in Message.fbs).
const (
	arrowPlain = -1
	arrowLZ4   = 0
	arrowZstd  = 1
)

// maxNulls is the number of rows that a batch may have if it has only columns of type null.
const maxNulls = 1 << 24

func newArrowBatch(t flatTable, body []byte) *arrowBatch {
	b := &arrowBatch{rows: int(t.int(0, 8, 0)), nodes: t.longs(1, 2), places: t.longs(2, 2), variadic: t.longs(4, 1), codec: arrowPlain, body: body}
	if c, ok := t.table(3); ok {
		b.codec = c.int(0, 1, 0)
	}
	if b.rows < 0 {
		panic("a negative number of rows")
	}
	return b
}

// arrowColumn is the buffers of a column in a batch.
type arrowColumn struct {
	*arrowBatch
	arrowField
	places   []int64
	variadic int // number of buffers after the first two of a string view
}

// columns divides the buffers among the columns.
func (b *arrowBatch) columns(fields []arrowField) []arrowColumn {
	places, variadic := b.places, b.variadic
	nodes := b.nodes
	var skip func(f *arrowField) arrowColumn
	skip = func(f *arrowField) arrowColumn {
		n, variable := f.buffers()
		c := arrowColumn{arrowBatch: b, arrowField: *f}
		if variable {
			c.variadic = int(variadic[0])
			n, variadic = n+c.variadic, variadic[1:]
		}
		c.places, places, nodes = places[:2*n], places[2*n:], nodes[2:]
		if f.dictionary == nil {
			for i := range f.children {
				skip(&f.children[i])
			}
		}
		return c
	}
	all := make([]arrowColumn, len(fields))
	for i := range fields {
		if nodes[0] != int64(b.rows) {
			panic(fmt.Sprintf("%d values of %d rows", nodes[0], b.rows))
		}
		all[i] = skip(&fields[i])
	}
	return all
}

// buffer returns buffer i of the column, uncompressed.
func (c *arrowColumn) buffer(i int) ([]byte, error) {
	from, size := c.places[2*i], c.places[2*i+1]
	b := c.body[from:][:size]
	if c.codec == arrowPlain || len(b) == 0 {
		return b, nil
	}
	want := int64(binary.LittleEndian.Uint64(b))
	b = b[8:]
	if want == -1 { // not smaller when compressed
		return b, nil
	}
	var r io.Reader
	switch c.codec {
	case arrowLZ4:
		r = lz4.NewReader(bytes.NewReader(b))
	case arrowZstd:
		d, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		r = d
	default:
		return nil, arrowError("buffers compressed with LZ4 or zstd", fmt.Sprintf("codec %d", c.codec))
	}
	var out bytes.Buffer // grows, since want may be wrong
	if n, err := io.CopyN(&out, r, want); err != nil {
		return nil, arrowError(fmt.Sprintf("a buffer of %d bytes", want), fmt.Sprintf("%d: %v", n, err))
	}
	return out.Bytes(), nil
}
