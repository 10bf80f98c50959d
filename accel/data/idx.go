package data

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// IDX is an array of bytes in the file format of MNIST: a header of big-endian 32-bit words,
// followed by the elements in row-major order.
//
// The format is described at http://yann.lecun.com/exdb/mnist/: two zero bytes, the element
// type, the number of dimensions, then one word per dimension.
type IDX struct {
	Shape []int  // number of elements in each dimension
	Data  []byte // in row-major order
}

// FormatError says that a file does not conform to its format.
type FormatError struct {
	Format string // IDX
	Path   string // path of the file; empty if unknown
	Line   int    // of a text file, from 1; 0 if unknown
	Column string // of a table; empty if unknown
	Record int    // of a TFRecord file, from 1; 0 for other files
	Want   string // what was expected
	Got    string // what was found
}

func (e *FormatError) Error() string {
	where := e.Format + " data"
	if e.Path != "" {
		where = e.Path
	}
	if e.Line > 0 {
		where += fmt.Sprintf(", line %d", e.Line)
	}
	if e.Column != "" {
		where += fmt.Sprintf(", column %q", e.Column)
	}
	if e.Record > 0 {
		where += fmt.Sprintf(", record %d", e.Record)
	}
	return fmt.Sprintf("data: %s: want %s, got %s", where, e.Want, e.Got)
}

const (
	idxUint8      = 0x08 // element type: unsigned byte
	idxDimensions = 8    // more than any data set has
)

// ReadIDX reads an array of unsigned bytes in IDX format up to the end of r. Anything else is a
// [*FormatError]: another element type, a header whose size does not match the data, or a size
// that overflows.
func ReadIDX(r io.Reader) (*IDX, error) { return readIDX(r, func([]int) error { return nil }) }

// readIDX calls a function to check the shape before it reads the elements.
func readIDX(r io.Reader, wanted func(shape []int) error) (*IDX, error) {
	var magic [4]byte
	if err := idxFull(r, magic[:], "a header of 4 bytes"); err != nil {
		return nil, err
	}
	if magic[0] != 0 || magic[1] != 0 {
		return nil, idxError("a file that begins with two zero bytes", "% x", magic[:2])
	}
	if magic[2] != idxUint8 {
		return nil, idxError("elements of type 0x08 (unsigned byte)", "type 0x%02x", magic[2])
	}
	if magic[3] < 1 || magic[3] > idxDimensions {
		return nil, idxError(fmt.Sprintf("1 to %d dimensions", idxDimensions), "%d", magic[3])
	}
	words := make([]byte, 4*int(magic[3]))
	if err := idxFull(r, words, fmt.Sprintf("%d dimensions of 4 bytes", magic[3])); err != nil {
		return nil, err
	}
	a := &IDX{Shape: make([]int, magic[3])}
	elements := 1
	for i := range a.Shape {
		d := binary.BigEndian.Uint32(words[4*i:])
		if d > math.MaxInt32 || (d > 0 && elements > math.MaxInt32/int(d)) {
			return nil, idxError("fewer than 2 GiB of elements", "dimension %d of size %d", i, d)
		}
		a.Shape[i] = int(d)
		elements *= int(d)
	}
	if err := wanted(a.Shape); err != nil {
		return nil, err
	}
	r, meter := withProgress(r, "reading IDX data", int64(elements))
	defer meter.End()
	// The buffer grows with the data read, not with the size in the header.
	var elementsRead bytes.Buffer
	n, err := elementsRead.ReadFrom(io.LimitReader(r, int64(elements)))
	if err != nil {
		return nil, fmt.Errorf("data: reading IDX elements: %w", err)
	}
	if n < int64(elements) {
		return nil, idxError(fmt.Sprintf("%d elements for shape %v", elements, a.Shape), "%d", n)
	}
	a.Data = elementsRead.Bytes()
	if n, err := io.ReadFull(r, magic[:1]); n > 0 {
		return nil, idxError(fmt.Sprintf("the end after %d elements", elements), "more bytes")
	} else if err != io.EOF {
		return nil, fmt.Errorf("data: reading IDX elements: %w", err)
	}
	return a, nil
}

func idxFull(r io.Reader, dst []byte, want string) error {
	n, err := io.ReadFull(r, dst)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return idxError(want, "%d bytes", n)
	}
	if err != nil {
		return fmt.Errorf("data: reading the IDX header: %w", err)
	}
	return nil
}

func idxError(want, format string, got ...any) error {
	return &FormatError{Format: "IDX", Want: want, Got: fmt.Sprintf(format, got...)}
}
