package frame

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

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
